# The smallest trial there is: one turn of the scripted host, no MCP call, three
# asserts on its answer. It measures what the engine itself costs:
#
#   evalengine run examples/bench/suite.hcl -k 1000

suite "bench" {
  repeats = 1000
}

host "scripted" {
  driver = "scripted"
  config {
    scripts = { answer = jsonencode({ turns = [{ steps = [{ say = jsonencode({ id = 7, answer = "value-7" }) }] }] }) }
  }
}

story "answer" {
  prompt = "{\"id\": 7, \"answer\": \"value-7\"}"

  assert "answer/contains" { value = "value-7" }
  assert "answer/json" {
    pointer = "/id"
    value   = 7
  }
  assert "answer/matches" { pattern = "^\\{" }
}

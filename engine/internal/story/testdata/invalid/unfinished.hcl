suite "s" {}
host "a" { driver = "codex" }
story "draft" {
  prompt = unfinished("Say what ${user} wanted.") # ERROR: unfinished prompt: Put the task in its place
  turn "more" {
    prompt = unfinished("") # ERROR: unfinished prompt
  }
}
story "elsewhere" {
  prompt = "x ${unfinished("y")}" # ERROR: function
}

suite "s" {
  on_timeout = "pass" # ERROR: unknown policy
}

host "h" { driver = "scripted" }

story "a" {
  prompt = "x"
}

suite "s" {}

host "a" {
  driver    = "scripted"
  isolation = "sometimes" # ERROR: unknown policy
}

host "b" {
  driver    = "open"
  isolation = "require" # ERROR: isolation cannot be had
}

host "c" { # WARNING: host without isolation
  driver = "open"
}

host "d" {
  driver    = "open"
  isolation = "none"
}

host "e" {
  driver    = "scripted"
  isolation = "require"
}

story "a" {
  prompt = "x"
}

suite "s" {}
variable "key" {
  sensitive = true
  default   = "sk-123456789" # ERROR: secret in a suite file: give the value as EVALENGINE_VAR_key
}
variable "short" { # ERROR@6: secret too short: The value of variable short has fewer than 8 characters
  sensitive = true
  default   = "abc" # ERROR: secret in a suite file
}
host "a" {
  driver = "claude-cod" # ERROR: unknown driver: There is no driver "claude-cod". Did you mean "claude-code"?
}
host "b" {
  driver = "codex"
  config {
    modle     = "x"               # ERROR: unknown attribute: The config of driver "codex" has no attribute "modle". Did you mean "model"?
    max_turns = "ten"             # ERROR: wrong value: "max_turns" of the config of driver "codex": a number is required.
    effort    = "hihg"            # ERROR: wrong value: "hihg" is not one of "low", "medium", "high"; did you mean "high"
    args      = "x"               # ERROR: wrong value: list of string required
    settings  = { a = ["x"] }     # ERROR: wrong value: element "a": string required
    limits    = { secs = 1 }      # ERROR: wrong value: there is no attribute "secs"
    api_key   = "sk-in-the-open"  # ERROR: secret in the open
    nested { x = 1 }              # ERROR: unknown block: takes attributes alone: write nested = { ... }
  }
}
host "c" {
  driver = "broken" # ERROR: driver cannot be used: Driver "broken": the plugin ended before its handshake.
}
host "d" {
  driver = "badschema" # ERROR: driver cannot be used: its schema's attribute "x" has the unreadable type "lits(string)"
}
host "e" {
  driver = "oneshot"
  env    = ["HOME=/x"] # ERROR: unusable name
}
host "f" {
  driver = "replay" # not asked: there is no telling whether it is the right one
  sha256 = "abc"    # ERROR: unreadable digest
}
target "t" {
  provisioner = "site-builder" # ERROR: unknown provisioner: There is no provisioner "site-builder". Did you mean "sitebuilder"?
}
target "u" {
  provisioner = "command" # ERROR@43: missing attribute: The config of provisioner "command" needs "servers" (map(object({ command = list(string), dir = optional(string) }))). It is: MCP servers by name.
}
target "v" {
  provisioner = "command"
  config {
    servers = { a = { cmd = ["x"] } } # ERROR: wrong value: at ["a"]: there is no attribute "cmd". There is: command, dir.
  }
}
target "w" {
  provisioner = "sitebuilder"
  tool "a_*" { destructve = true } # ERROR: unknown attribute: Did you mean "destructive"?
  tool "a_*" { destructive = true } # ERROR: duplicate rule
  tool "b" {}                      # WARNING: rule without effect
}
story "a" {
  prompt = "x"
  target = target.t
  turn "t" { prompt = "y" } # ERROR: host without further turns: The driver "oneshot" of host.e can give an agent one prompt only.
}
story "b" {
  prompt = "x"
  hosts  = [host.b]
  target = target.u
}
story "c" {
  prompt = "x"
  hosts  = [host.b]
  target = target.v
}
story "d" {
  prompt = "x"
  hosts  = [host.b]
  target = target.w
}

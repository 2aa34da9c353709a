suite "s" {}
host "a" { driver = "codex" }
target "t" { provisioner = "sitebuilder" }
story "a" {
  target = target.t
  prompt = "x"
  variant "v" {
    tool "x" {}                  # ERROR: change without effect
    tool "y" { fault_every = 2 } # ERROR: fault_every without fault
    tool "z" {
      hide    = true             # ERROR: hidden tool changed
      latency = "1s"
    }
    tool "z" { hide = true }     # ERROR: duplicate tool
    tool ""  { hide = true }     # ERROR: unusable pattern
  }
}
story "b" {
  prompt = "  "                  # ERROR: empty text: "prompt" must not be empty.
  variant "v" {
    tool "x" { hide = true }     # ERROR: no target
  }
}

suite "s" { hosts = [host.a, host.a] } # WARNING: duplicate element: "hosts" has "a" already.
host "a" { driver = "codex" }
host "b" { driver = "codex" }
story "x" {
  prompt = "x"
  hosts = [host.b] # ERROR: host not in the suite: host.b is declared, but not among the suite's hosts.
}

suite "s" {
  hosts    = []      # ERROR: no hosts: The list is empty.
  repeats  = 0       # ERROR: number out of range: "repeats" is a whole number from 1 to 10000.
  timeout  = "-5s"   # ERROR: duration out of range: "timeout" must be longer than 0.
  retries  = 1.5     # ERROR: number out of range
  budget_usd = -1    # ERROR: number out of range: "budget_usd" is greater than 0
}
host "a" { driver = "codex" }
host "b" { driver = "codex" }
story "x" {
  prompt  = "x"
  hosts   = []      # ERROR: no hosts: The list is empty, so the story would never run.
  timeout = "soon"  # ERROR: unreadable duration
  repeats = "many"  # ERROR: wrong type: "repeats": a number is required.
}
story "y" {
  prompt = "x"
  hosts  = ["a"]   # ERROR: not a reference: not its name in quotes: write host.a.
}
story "z" {
  prompt = "x"
  hosts  = host.a  # ERROR: wrong type: "hosts" is a list of references: write hosts = [host.NAME].
  target = host.a  # ERROR: name not available here: References to blocks stand where a block is asked for
}

suite "s" {
  hosts = [host.clade] # ERROR: unknown host: There is no host.clade. Did you mean "claude"?
}
host "claude" { driver = "claude-code" }
story "a" { prompt = "x" }

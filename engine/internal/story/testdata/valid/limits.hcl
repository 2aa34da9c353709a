suite "s" {
  budget_usd = 0.5
  max_trials = 100
  circuit    = 0

  limits {
    turns      = 40
    tokens     = 2000000
    tool_bytes = "5MB"
    usd        = 0.25
  }
  provider "https://api.anthropic.com" {
    concurrency         = 4
    requests_per_minute = 50
  }
  provider "http://127.0.0.1:8377/" {} # WARNING: provider without effect: Set concurrency or requests_per_minute.
}
host "claude" {
  driver      = "claude-code"
  concurrency = 2
}
story "a" {
  for_each = toset(["5", "6"])
  prompt   = "x"

  limits { turns = each.value }
}
story "b" {
  prompt = "x"

  limits {} # WARNING: limits without effect: Set turns, tokens, tool_bytes or usd.
}

suite "s" {
  budget_usd = 0 # ERROR: number out of range: "budget_usd" is greater than 0; leave it out for no bound.
  max_trials = 0 # ERROR: number out of range: "max_trials" is a whole number from 1 to 1000000.
  circuit    = 1.5 # ERROR: number out of range: "circuit" is a whole number from 0 to 1000000.

  limits {
    turns      = -1 # ERROR: number out of range: "turns" is a whole number from 1 to 1000000.
    tokens     = "many" # ERROR: wrong type: "tokens": a number is required.
    tool_bytes = "5 apples" # ERROR: unreadable size: "tool_bytes" is a size such as
    usd        = -0.1 # ERROR: number out of range: "usd" is greater than 0; leave it out for no bound.
    seconds    = 5 # ERROR: unknown attribute: A limits block has no attribute "seconds".
  }
  limits {} # ERROR: duplicate block: A suite block has one limits block, and there is one already, at
  provider "https://api.anthropic.com" { concurrency = 0 } # ERROR: number out of range: "concurrency" is a whole number from 1 to 10000.
  provider "https://API.anthropic.com/" { concurrency = 1 } # ERROR: duplicate provider: There is a block for "https://api.anthropic.com" already.
  provider "anthropic" { concurrency = 1 } # ERROR: unusable provider: The label is the scheme and host of the provider's base URL, such as
  provider "https://api.openai.com/v1" { requests_per_minute = 9 } # ERROR: unusable provider
}
host "claude" {
  driver      = "claude-code"
  concurrency = 0 # ERROR: number out of range: "concurrency" is a whole number from 1 to 10000.
}
provider "https://api.openai.com" {} # ERROR: unknown block: It belongs into a suite block.
story "a" {
  prompt = "x"

  limits { usd = 0 } # ERROR: number out of range: "usd" is greater than 0; leave it out for no bound.
}

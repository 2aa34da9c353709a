# A suite to start from. It runs at once, on the scripted host, which performs the
# calls written down in scripts/:
#
#   evalengine run suite.hcl
#
# With a key the same story runs on a real agent:
#
#   ANTHROPIC_API_KEY=... evalengine run suite.hcl --host claude
#   OPENAI_API_KEY=...    evalengine run suite.hcl --host codex

suite "starter" {
  hosts   = [host.scripted] # what runs when no --host is given
  repeats = 2
  timeout = "10m"
}

host "scripted" {
  driver = "scripted"
  config {
    scripts = { for f in fileset("scripts", "*.json") : trimsuffix(f, ".json") => file("scripts/${f}") }
  }
}

host "claude" {
  driver = "claude-code"
  config {
    model     = "claude-sonnet-4-5"
    max_turns = 30
  }
}

host "codex" {
  driver = "codex"
  config {
    model     = "gpt-5-codex"
    max_turns = 30
  }
}

# The thing the agent works on: a fresh one for each trial. For your own MCP server
# use the provisioner "command".
target "site" {
  provisioner = "sitebuilder"
  config { template = "blank" }
  tool "designer_*" { requires = ["designer_tab"] }
}

story "team-page" {
  target = target.site
  prompt = <<-EOT
    On the site at ${target.url}, create a page "Team" with a first-level heading, and publish the site.
  EOT

  # What must be true afterwards, looked up at the target.
  check "team page is live" {
    condition     = anytrue([for p in state.published.pages : p.title == "Team"])
    error_message = "visitors see no page with the title Team"
  }
  check "it has a heading" {
    condition = anytrue([for p in state.published.pages :
      p.title == "Team" && anytrue([for h in p.headings : h.level == 1])])
    error_message = "the page Team has no first-level heading"
  }

  # Rules.
  assert "tools/only_available" {}
  assert "tools/not_called" { tool = "*_delete" }

  # How hard the way was; informs, never fails a trial.
  measure "path/calls" {}
}

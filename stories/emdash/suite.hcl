# Stories on EmDash, a content management system with an MCP server of 53 tools.
# `make emdash` installs it and runs them; README.md says what comes of it.

suite "emdash" {
  hosts   = [host.scripted, host.careless]
  timeout = "5m"
  retries = 1
}

variable "judge" {
  type        = string
  default     = "claude-sonnet-4-5"
  description = "The model that judges ask. Without its key they are skipped."
}

# -- hosts

# Does what is asked for: every trial passes.
host "scripted" {
  driver = "scripted"
  config {
    scripts = { for f in fileset("scripts", "*.json") : trimsuffix(f, ".json") => file("scripts/${f}") }
  }
}

# Makes the mistakes that agents make: every trial fails.
host "careless" {
  driver = "scripted"
  config {
    scripts = { for f in fileset("careless", "*.json") : trimsuffix(f, ".json") => file("careless/${f}") }
  }
}

# -- target: a site of its own for each trial

locals {
  node  = "${path.suite}/target/node"
  build = "${path.suite}/.build"
}

target "site" {
  provisioner = "command"
  config {
    name  = "emdash"
    serve = [local.node, "${local.build}/dist/server/entry.mjs"]
    url   = "http://127.0.0.1:{port}/_emdash/api/mcp"
    setup = [[local.node, "${path.suite}/target/setup.mjs", local.build, "{workdir}", "http://127.0.0.1:{port}"]]

    headers = { Authorization = "Bearer ec_pat_{token}" }
    env = {
      HOST        = "127.0.0.1"
      PORT        = "{port}"
      TRIAL_NONCE = "{nonce}"
      TRIAL_TOKEN = "ec_pat_{token}"
    }

    # The site says the nonce: it is this trial's, and no other that took the port.
    ready_url     = "http://127.0.0.1:{port}/whoami"
    ready_body    = "{nonce}"
    ready_timeout = "90s"

    snapshot         = [local.node, "${path.suite}/target/state.mjs", "http://127.0.0.1:{port}"]
    snapshot_timeout = "60s"
    values           = { url = "http://127.0.0.1:{port}" }
  }
  tool "*_permanent_delete" { destructive = true }
}

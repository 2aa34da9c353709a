# Fourteen stories on sitebuilder, whose results are looked at as visitors see them:
# captured pages, what they are built of, what a browser and a judge have to say.
#
#   evalengine run stories/sitebuilder                      # the scripted host: no key
#   evalengine run stories/sitebuilder --host claude
#
# Judges ask var.judge where its key is set, and are skipped where it is not.

suite "sitebuilder" {
  hosts   = [host.scripted]
  timeout = "10m"
  retries = 1
}

variable "judge" {
  type        = string
  default     = "claude-sonnet-4-5"
  description = "The model that judges ask, of Anthropic."
}

variable "judge_url" {
  type        = string
  default     = ""
  description = "Where judges ask it: a gateway, or a model on this machine, that speaks Anthropic's API. Empty is Anthropic's own address."
}

model "judge" {
  provider = "anthropic"
  name     = var.judge
  config {
    base_url = var.judge_url == "" ? null : var.judge_url
  }
}

# -- hosts

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
    max_turns = 60
  }
}

host "codex" {
  driver = "codex"
  config {
    model     = "gpt-5-codex"
    max_turns = 60
  }
}

# -- targets: a fresh site for each trial

target "blank" {
  provisioner = "sitebuilder"
  config { template = "blank" }
  tool "designer_*" { requires = ["designer_tab"] }
}

target "demo" {
  provisioner = "sitebuilder"
  config { template = "demo" }
  tool "designer_*" { requires = ["designer_tab"] }
}

target "cluttered" {
  provisioner = "sitebuilder"
  config { template = "cluttered" }
  tool "designer_*" { requires = ["designer_tab"] }
}

# -- what judges are told of every story

locals {
  process = <<-EOT
    A good run looks before it writes, uses the tool that is made for the step, publishes where visitors are to see the
    change, and says at the end what is true of the site, no more. Calls that fail are mended, not repeated. Things that
    the task does not name are left as they are.
  EOT
  look = <<-EOT
    Text must be readable against its ground and nothing may overlap, be cut off or run out of the screen. Equal things are
    of equal size and stand in line. A page without any styling is the lowest grade, whatever its content.
  EOT
}

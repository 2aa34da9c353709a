suite "site-builder" {
  hosts      = [host.claude, host.codex]
  repeats    = 3
  timeout    = "10m" # one trial
  retries    = 2
  budget_usd = 20
}

variable "workspace" {
  type    = string
  default = "demo"
}

host "claude" {
  driver       = "claude-code"
  capabilities = []
  config {
    model     = "sonnet"
    max_turns = 40
  }
}

host "codex" {
  driver = "codex"
  config { model = "gpt-5-codex" }
}

target "site" {
  provisioner = "sitebuilder"
  config { template = "blank" }
  tool "designer_*" { requires = ["designer_tab"] }
  tool "*_delete" { destructive = true }
}

model "judge" {
  provider = "anthropic"
  name     = "claude-opus-4-5"
}

scorer "brand" {
  source = "brand.wasm"
  grants {
    models  = [model.judge]
    memory  = "128MiB"
    timeout = "5s"
  }
}

story "cms-collection" {
  tags   = ["cms"]
  target = target.site
  prompt = <<-EOT
    On ${target.url}, create a CMS collection "Recipes" with three fields and add one entry.
  EOT

  turn "publish" { prompt = "Now publish the site." }

  variant "original" {}
  variant "hardened" { append = "Do not use Designer canvas tools." }

  check "collection exists" {
    condition     = contains([for c in state.collections : c.name], "Recipes")
    error_message = "no collection named Recipes"
  }

  assert "tools/called" {
    tool = "collections_create"
    min  = 1
  }
  assert "tools/not_called" { tool = "*_delete" }

  measure "html/semantic_html_ratio" {}
  measure "path/effort" {}

  capture "home" {
    url      = "${target.url}/"
    viewport = "1280x800"
  }

  judge "judge/transcript" {
    model  = model.judge
    rubric = file("rubrics/cms.md")
  }
  judge "judge/visual" {
    model = model.judge
    pages = ["home"]
    brief = "A calm recipe site: clear hierarchy, readable type, nothing broken."
  }
  judge "brand/tone" {
    model = model.judge
    brief = "warm"
  }

  gold { script = "gold/cms.json" }
}

# Seven website stories for an agent that has a site builder's MCP server and
# nothing else.
#
# As it stands the suite runs on the scripted host, which performs calls that were
# written down beforehand: no key, no network. Real agents run the same stories:
#
#   evalengine run examples/quickstart/suite.hcl --host claude
#   evalengine run examples/quickstart/suite.hcl --host codex

suite "quickstart" {
  hosts   = [host.scripted]
  repeats = 3
  timeout = "10m"
  retries = 1
}

variable "base_url" {
  type        = string
  default     = ""
  description = "Where the agents' models are; empty is the vendor. The scripted model of examples/scripted-model serves both."
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
    max_turns = 40
    base_url  = var.base_url
  }
}

host "codex" {
  driver = "codex"
  config {
    model     = "gpt-5-codex"
    max_turns = 40
    base_url  = var.base_url == "" ? "" : "${var.base_url}/v1"
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

# -- stories

story "cms-collection" {
  tags   = ["cms"]
  target = target.blank
  prompt = <<-EOT
    On the site at ${target.url}, create a CMS collection "Recipes" with three fields (title, minutes and
    method) and add one recipe for pea soup.
  EOT

  turn "publish" {
    prompt = "Good. Now publish the site, with the recipe on it."
  }

  variant "original" {}
  variant "hardened" { append = "Do not use the designer_* tools: no designer is open." }

  check "collection exists" {
    condition     = contains([for c in state.collections : c.name], "Recipes")
    error_message = "no collection is named Recipes; there are: ${join(", ", [for c in state.collections : c.name])}"
  }
  check "three fields" {
    condition     = anytrue([for c in state.collections : c.name == "Recipes" && length(c.fields) == 3])
    error_message = "the collection Recipes has not three fields"
  }
  check "recipe is live" {
    condition     = anytrue([for c in state.published.collections : c.name == "Recipes" && length(c.items) == 1])
    error_message = "visitors see no recipe"
  }
  assert "tools/called" {
    tool = "sites_publish"
    turn = 2
  }
  assert "tools/only_available" {}
  assert "tools/not_called" { tool = "*_delete" }
  measure "path/calls" {}
  measure "path/bytes_returned" {}
}

story "landing-page" {
  tags   = ["pages"]
  target = target.blank
  prompt = <<-EOT
    Build a landing page for a kite shop as the home page of the site at ${target.url}: a hero with a headline,
    three features, and a price list. Publish it.
  EOT

  variant "original" {}
  variant "hardened" { append = "Build it section by section, one root element at a time." }

  check "a headline is live" {
    condition     = anytrue([for p in state.published.pages : p.path == "/" && anytrue([for h in p.headings : h.level == 1])])
    error_message = "the published home page has no first-level heading"
  }
  check "features and prices are live" {
    condition = anytrue([for p in state.published.pages :
      p.path == "/" && length([for h in p.headings : h if h.level > 1]) >= 4])
    error_message = "the published home page has fewer than four headings below the first"
  }
  # Taken with the browser that is installed; without one these two are skipped.
  capture "home" {
    url = target.url
  }
  measure "html/semantic_html_ratio" {}
  measure "html/heading_order" {}
  assert "tools/only_available" {}
  measure "path/calls" {}
  measure "path/failed_calls" {}
}

# The draft is not what visitors see. The original prompt leaves it to the agent to
# think of that, and the scripted agent does not: this story fails, rightly.
story "headline-fix" {
  tags   = ["pages"]
  target = target.demo
  prompt = "There is a typing error in the headline of the home page at ${target.url}. Fix it."

  variant "original" {}
  variant "hardened" { append = "Visitors must see the corrected headline when you are done." }

  check "corrected in the draft" {
    condition     = anytrue([for p in state.pages : anytrue([for h in p.headings : strcontains(h.text, "Kites that fly")])])
    error_message = "the draft still has the typing error"
  }
  check "corrected for visitors" {
    condition     = anytrue([for p in state.published.pages : anytrue([for h in p.headings : strcontains(h.text, "Kites that fly")])])
    error_message = "visitors still see the typing error: the change was not published"
  }
  assert "tools/not_called" { tool = "*_delete" }
  measure "path/calls" {}
}

story "blog-post" {
  tags   = ["cms"]
  target = target.demo
  prompt = <<-EOT
    Add a blog post "Winter storage" to the site at ${target.url}: two or three sentences on drying a kite before
    it is put away. Publish that post, and leave everything else as it is.
  EOT

  variant "original" {}
  variant "hardened" { append = "Drafts of other posts must stay drafts." }

  check "post is live" {
    condition = anytrue([for c in state.published.collections :
      anytrue([for i in c.items : try(i.fields.title, "") == "Winter storage"])])
    error_message = "visitors see no post with the title Winter storage"
  }
  check "pages unchanged" {
    condition     = jsonencode(state.pages) == jsonencode(before.pages)
    error_message = "pages were changed"
    dimension     = "constraint"
  }
  assert "tools/only_available" {}
  measure "path/calls" {}
}

story "tidy-collection" {
  tags   = ["cms", "destructive"]
  target = target.cluttered
  prompt = <<-EOT
    The site at ${target.url} has two collections that are called "Blog posts". One is old and nothing uses it. Remove
    that one and keep the other with all its posts.
  EOT

  variant "original" {}
  variant "hardened" { append = "Look into both before you remove anything." }

  check "one is left" {
    condition     = length([for c in state.collections : c if c.name == "Blog posts"]) == 1
    error_message = "not exactly one collection is called Blog posts"
  }
  check "the right one is left" {
    condition     = length([for c in state.collections : c if c.slug == "blog-posts"]) == 1
    error_message = "the collection that the pages use is gone"
    dimension     = "constraint"
  }
  assert "tools/not_called" { tool = "sites_delete" }
  assert "tools/no_destructive" { allow = ["collections_delete"] }
  measure "path/calls" {}
}

# The trap: designer tools promise the best result and need an open designer tab,
# which a headless session never has. The scripted agent tries one, then does the
# job by other means: the outcome holds, the constraint does not.
story "move-hero" {
  tags   = ["pages", "trap"]
  target = target.demo
  prompt = "On the home page at ${target.url} the hero comes second. Open the page in the designer, move the hero to the top, and publish."

  variant "original" {}
  variant "hardened" { append = "No designer is open, so do not use the designer_* tools." }

  check "hero first" {
    condition = anytrue([for p in state.published.pages : p.path == "/" &&
      try(p.headings[0].level, 0) == 1])
    error_message = "the hero is not the first thing on the published home page"
  }
  assert "tools/only_available" {}
  measure "path/calls" {}
  measure "path/failed_calls" {}
}

story "restyle-buttons" {
  tags   = ["styles"]
  target = target.demo
  prompt = "Make the buttons of the site at ${target.url} green (#1a7f37) by changing their class, and publish."

  variant "original" {}
  variant "hardened" { append = "Change the class that is there; do not make another." }

  check "button is green" {
    condition = anytrue([for s in state.published.styles :
      s.name == "button" && contains(values(s.properties), "#1a7f37")])
    error_message = "the published class button is not green"
  }
  check "no second class" {
    condition     = length([for s in state.styles : s if startswith(s.name, "button-2")]) == 0
    error_message = "a second class was made beside the one that pages use"
    dimension     = "constraint"
  }
  capture "home" {
    url = target.url
  }
  measure "html/landmarks" {}
  measure "html/links" {}
  measure "path/calls" {}
}

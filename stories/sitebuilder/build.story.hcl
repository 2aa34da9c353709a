# Pages built from nothing, or new beside what is there.

# The two variants look the same; they are built of different elements.
story "bakery-home" {
  tags   = ["pages", "gold"]
  target = target.blank
  prompt = <<-EOT
    Build the home page of a bakery, "Rye & Daughters", on the site at ${target.url}: a header with the name and links to the parts of
    the page, a hero with a headline and a link to the opening hours, three breads with a sentence each, the opening hours, and a
    footer with the address. Style it: warm colours, readable on a phone. Publish it.
  EOT

  variant "original" {}
  variant "hardened" { append = "Use the elements that HTML has for each part of a page, not generic ones." }

  capture "home" {
    url         = target.url
    viewports   = ["1280x800", "390x844"]
    expect_text = "Rye & Daughters"
  }
  check "three breads and the hours are live" {
    condition = anytrue([for p in pages : p.status == 200 && alltrue([for t in ["Sourdough", "Rye", "Brioche", "Opening hours"] :
    strcontains(p.html, t)])])
    error_message = "the live home page does not have three breads and the opening hours"
  }
  check "a headline" {
    condition     = anytrue([for p in state.published.pages : p.path == "/" && length([for h in p.headings : h if h.level == 1]) == 1])
    error_message = "the live home page has not exactly one first-level heading"
  }
  measure "html/semantic_html_ratio" {}
  measure "html/landmarks" {}
  measure "html/heading_order" {}
  measure "html/div_depth" {}
  measure "html/links" {}
  measure "html/accessibility" {}
  measure "page/broken_links" {}
  measure "page/size" {}
  measure "findings/all" {}
  judge "judge/transcript" {
    model  = model.judge
    rubric = local.process
  }
  judge "judge/visual" {
    model  = model.judge
    brief  = "The home page of a small bakery: warm colours, the name and links at the top, a hero, three breads side by side (below each other on a phone), opening hours, footer."
    rubric = local.look
  }
  gold {
    script  = "golds/bakery-home.json"
    samples = 3
    floor {}
  }
}

story "recipe-list" {
  tags   = ["cms", "pages"]
  target = target.blank
  prompt = <<-EOT
    On the site at ${target.url}, make a collection "Recipes" with title, minutes and method, add pea soup (40 minutes) and flat bread
    (25 minutes), and a page /recipes that lists all recipes with a link to each. Publish the site.
  EOT

  capture "list" {
    url         = "${target.url}/recipes"
    expect_text = "Pea soup"
  }
  capture "recipe" {
    url         = "${target.url}/recipes/pea-soup"
    expect_text = "40"
  }
  check "both recipes are listed" {
    condition     = anytrue([for p in pages : p.name == "list" && strcontains(p.html, "Pea soup") && strcontains(p.html, "Flat bread")])
    error_message = "the page /recipes does not list both recipes"
  }
  check "each has a page" {
    condition     = alltrue([for p in pages : p.status == 200])
    error_message = "a page is missing: ${join(", ", [for p in pages : "${p.url} ${p.status}"])}"
  }
  check "minutes are a number" {
    condition     = anytrue([for c in state.collections : c.name == "Recipes" && anytrue([for f in c.fields : f.slug == "minutes" && f.type == "number"])])
    error_message = "the field minutes is no number"
  }
  assert "page/no_broken_links" {}
  measure "html/heading_order" {}
  measure "html/links" {}
  measure "path/calls" {}
  measure "findings/all" {}
  judge "judge/transcript" {
    model  = model.judge
    rubric = local.process
  }
}

story "contact-form" {
  tags   = ["pages", "forms", "gold"]
  target = target.demo
  prompt = <<-EOT
    Add a page /contact to the site at ${target.url} with a form: name, e-mail, which kite (one of Wren, Swift, Albatross), message, and a
    button to send it. It should look like the other pages. Publish it.
  EOT

  variant "original" {}
  variant "hardened" { append = "People who use screen readers must be able to fill it in." }

  capture "contact" {
    url       = "${target.url}/contact"
    viewports = ["1280x800", "390x844"]
  }
  check "a form of four fields" {
    condition = anytrue([for p in pages : length(regexall("<(?:input|select|textarea)[ >]", p.html)) == 4 &&
    can(regex("<button[ >]", p.html))])
    error_message = "the page /contact does not have a form of four fields and a button: ${join(", ", [for p in pages : "${p.status} ${p.error}"])}"
  }
  check "other pages are as they were" {
    condition     = [for p in state.pages : p if p.path != "/contact"] == before.pages
    error_message = "other pages were changed"
    dimension     = "constraint"
  }
  measure "html/labels" {}
  measure "html/accessibility" {}
  measure "html/landmarks" {}
  measure "findings/all" {}
  judge "judge/transcript" {
    model  = model.judge
    rubric = local.process
  }
  judge "judge/visual" {
    model  = model.judge
    brief  = "A contact page in the manner of the site's other pages: header with navigation, a form with four labelled fields below each other, a button, footer."
    rubric = local.look
  }
  gold {
    script  = "golds/contact-form.json"
    samples = 3
  }
}

story "faq-page" {
  tags   = ["pages"]
  target = target.demo
  prompt = <<-EOT
    Add a page /faq to the site at ${target.url} that answers three questions: which kite for a child (the Wren), how long delivery takes (a
    week), and whether spars are replaced (for life). Give it a title and a description for search engines, and publish it.
  EOT

  capture "faq" {
    url         = "${target.url}/faq"
    expect_text = "Wren"
  }
  check "the page is there" {
    condition     = alltrue([for p in pages : p.status == 200 && strcontains(p.html, "week")])
    error_message = "the page /faq cannot be seen"
  }
  check "with title and description" {
    condition     = anytrue([for p in state.published.pages : p.path == "/faq" && p.seo_title != "" && p.description != ""])
    error_message = "the page has no title or no description for search engines"
  }
  measure "html/semantic_html_ratio" {}
  measure "html/heading_order" {}
  measure "findings/all" {}
  judge "judge/transcript" {
    model  = model.judge
    rubric = local.process
  }
}

# A picture with a file's name for its text says nothing to those who do not see it.
story "picture-texts" {
  tags   = ["pages", "images"]
  target = target.demo
  prompt = <<-EOT
    Put two pictures into a new section at the end of the main part of the about page of the site at ${target.url}: "${local.square}", the barn
    from the sea, and the same address again, the workbench. Publish it.
  EOT

  variant "original" {}
  variant "hardened" { append = "Say in words what each picture shows, for those who do not see it." }

  capture "about" {
    url = "${target.url}/about"
  }
  check "two pictures" {
    condition     = anytrue([for p in pages : length(regexall("<img ", p.html)) == 2])
    error_message = "the about page has not two pictures"
  }
  assert "page/no_failed_requests" {}
  measure "html/alt_text" {}
  measure "html/accessibility" {}
}

locals {
  # One orange pixel.
  square = "data:image/gif;base64,R0lGODlhAQABAIAAANlIDwAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw=="
}

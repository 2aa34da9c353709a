# What agents stumble over, as findings: builders that refuse, answers that are too
# long, collections that look alike.

# element_builder takes one root element and refuses several.
story "three-sections" {
  tags   = ["pages", "trap"]
  target = target.blank
  prompt = "Build three sections on the home page of the site at ${target.url} - Tides, Moorings and Prices, a heading and a sentence each - and publish it."

  variant "original" {}
  variant "hardened" { append = "Build it section by section, one root element at a time." }

  capture "home" {
    url = target.url
  }
  check "three sections are live" {
    condition     = alltrue([for p in pages : length(regexall("<h2[ >]", p.html)) == 3])
    error_message = "the live page has not three second-level headings"
  }
  measure "html/heading_order" {}
  measure "html/semantic_html_ratio" {}
  measure "path/failed_calls" {}
  measure "findings/all" {}
  judge "judge/transcript" {
    model  = model.judge
    rubric = local.process
  }
}

# The export of the whole site is far longer than what the question needs.
story "which-class" {
  tags   = ["styles", "trap"]
  target = target.demo
  prompt = "Which class makes the price on the price page of the site at ${target.url} orange, and which colour is it exactly? Change nothing."

  variant "original" {}
  variant "hardened" { append = "Ask for no more than you need." }

  check "named" {
    condition     = strcontains(answer, "price") && strcontains(answer, "#d9480f")
    error_message = "the answer does not name the class price and the colour #d9480f"
  }
  check "nothing changed" {
    condition     = state == before
    error_message = "the site was changed"
    dimension     = "constraint"
  }
  measure "path/bytes_returned" {}
  measure "findings/all" {}
  judge "judge/transcript" {
    model  = model.judge
    rubric = local.process
  }
}

story "tidy-collections" {
  tags   = ["cms", "destructive"]
  target = target.cluttered
  prompt = <<-EOT
    The site at ${target.url} has two collections that are called "Blog posts". One is old and nothing uses it. Remove that one and keep
    the other with all its posts.
  EOT

  capture "blog" {
    url = "${target.url}/blog"
  }
  check "one is left" {
    condition     = [for c in state.collections : c.slug if c.name == "Blog posts"] == ["blog-posts"]
    error_message = "not exactly the collection that pages use is left"
  }
  check "the blog still lists posts" {
    condition     = alltrue([for p in pages : strcontains(p.html, "Reading the wind")])
    error_message = "the blog lists no posts any more"
    dimension     = "constraint"
  }
  assert "tools/no_destructive" { allow = ["collections_delete"] }
  measure "page/broken_links" {}
  measure "findings/all" {}
  judge "judge/transcript" {
    model  = model.judge
    rubric = local.process
  }
}

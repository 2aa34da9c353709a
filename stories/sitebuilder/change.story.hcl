# Changes to a site that exists: what else is there must stay.

# The draft is not what visitors see: the scripted agent of the original prompt does
# not publish, and fails.
story "headline-typo" {
  tags   = ["pages", "draft"]
  target = target.demo
  prompt = "There is a typing error in the headline of the home page at ${target.url}. Fix it."

  variant "original" {}
  variant "hardened" { append = "Visitors must see the corrected headline when you are done." }

  capture "live" {
    url = target.url
  }
  capture "draft" {
    url = target.preview_url
  }
  check "corrected in the draft" {
    condition     = anytrue([for p in pages : p.name == "draft" && strcontains(p.html, "Kites that fly")])
    error_message = "the draft still has the typing error"
  }
  check "corrected for visitors" {
    condition     = anytrue([for p in pages : p.name == "live" && strcontains(p.html, "Kites that fly")])
    error_message = "visitors still see the typing error: the change was not published"
  }
  measure "path/calls" {}
  measure "findings/all" {}
  judge "judge/transcript" {
    model  = model.judge
    rubric = local.process
  }
}

story "hero-first" {
  tags   = ["pages", "trap", "gold"]
  target = target.demo
  prompt = "On the home page at ${target.url} the hero comes second. Move it to the top of the page, below the navigation, and publish."

  variant "original" {}
  variant "hardened" { append = "No designer is open, so do not use the designer_* tools." }

  capture "home" {
    url       = target.url
    viewports = ["1280x800", "390x844"]
  }
  check "hero first" {
    condition = anytrue([for p in pages :
    length(split("id=\"hero\"", p.html)) == 2 && !strcontains(split("id=\"hero\"", p.html)[0], "id=\"features\"")])
    error_message = "the hero is not before the features on the live page"
  }
  check "nothing was lost" {
    condition = length([for p in state.published.pages : p if p.path == "/" && length(p.headings) ==
    one([for q in before.published.pages : length(q.headings) if q.path == "/"])]) == 1
    error_message = "the live page has other headings than before"
    dimension     = "constraint"
  }
  assert "tools/only_available" {}
  measure "html/heading_order" {}
  measure "path/failed_calls" {}
  measure "findings/all" {}
  judge "judge/visual" {
    model  = model.judge
    brief  = "The home page of a kite maker: header with navigation, right below it the hero with headline, lead and two buttons, then features, voices of customers and posts."
    rubric = local.look
  }
  gold {
    script  = "golds/hero-first.json"
    samples = 3
    floor {}
  }
}

# styles_create makes button-2 where there is a button, and says success.
story "green-buttons" {
  tags   = ["styles", "trap"]
  target = target.demo
  prompt = "Make the buttons of the site at ${target.url} green (#1a7f37), and publish."

  variant "original" {}
  variant "hardened" { append = "Change the class that is there; do not make another." }

  capture "home" {
    url = target.url
  }
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
  measure "path/calls" {}
  measure "findings/all" {}
  judge "judge/transcript" {
    model  = model.judge
    rubric = local.process
  }
  judge "judge/visual" {
    model  = model.judge
    brief  = "The home page of a kite maker as it was, with green buttons."
    rubric = local.look
  }
}

story "phone-cards" {
  tags   = ["styles"]
  target = target.demo
  prompt = <<-EOT
    On phones the cards of the site at ${target.url} have too much empty room. Make their padding 12px on screens up to 767px wide and leave
    it as it is on wider ones. Publish.
  EOT

  capture "pricing" {
    url       = "${target.url}/pricing"
    viewports = ["1280x800", "390x844"]
  }
  check "12px on small screens" {
    condition = anytrue([for s in state.published.styles :
    s.name == "card" && try(s.variants.small.padding, "") == "12px" && s.properties.padding == "24px"])
    error_message = "the published class card does not have a padding of 12px on small screens and of 24px otherwise"
  }
  assert "state/unchanged" {
    query = "$.published.pages"
  }
  measure "path/calls" {}
  measure "findings/all" {}
  judge "judge/visual" {
    model  = model.judge
    brief  = "A price page with three cards, side by side on a wide screen, below each other and with little padding on a phone."
    rubric = local.look
  }
}

story "blog-post" {
  tags   = ["cms"]
  target = target.demo
  prompt = <<-EOT
    Add a blog post "Winter storage" to the site at ${target.url}: two or three sentences on drying a kite before it is put away. Publish
    that post, and leave everything else as it is.
  EOT

  capture "post" {
    url         = "${target.url}/blog-posts/winter-storage"
    expect_text = "Winter storage"
  }
  capture "blog" {
    url = "${target.url}/blog"
  }
  check "post is live" {
    condition     = anytrue([for p in pages : p.name == "post" && p.status == 200 && p.error == ""])
    error_message = "visitors see no post at /blog-posts/winter-storage"
  }
  check "the blog names it" {
    condition     = anytrue([for p in pages : p.name == "blog" && strcontains(p.html, "Winter storage")])
    error_message = "the blog does not list the post"
  }
  check "pages unchanged" {
    condition     = state.pages == before.pages
    error_message = "pages were changed"
    dimension     = "constraint"
  }
  assert "tools/not_called" { tool = "sites_publish" }
  measure "html/heading_order" {}
  measure "page/broken_links" {}
  measure "findings/all" {}
  judge "judge/transcript" {
    model  = model.judge
    rubric = local.process
  }
}

# A link to a page that is not there.
story "footer-links" {
  tags   = ["pages"]
  target = target.demo
  prompt = "Add links to the prices, the blog and the about page to the footer of the home page of the site at ${target.url}, and publish."

  variant "original" {}
  variant "hardened" { append = "Try every link that you add." }

  capture "home" {
    url = target.url
  }
  capture "pricing" {
    url = "${target.url}/pricing"
  }
  capture "blog" {
    url = "${target.url}/blog"
  }
  capture "about" {
    url = "${target.url}/about"
  }
  check "three links in the footer" {
    condition = anytrue([for p in pages : p.name == "home" &&
    length(regexall("<a ", element(split("<footer", p.html), length(split("<footer", p.html)) - 1))) == 3])
    error_message = "the footer of the home page has not three links"
  }
  check "to pages that are there" {
    condition = anytrue([for p in pages : p.name == "home" &&
    length(regexall("href=\"/(?:pricing|blog|about)\"", element(split("<footer", p.html), 1))) == 3])
    error_message = "a link of the footer leads nowhere"
  }
  measure "html/links" {}
  measure "html/landmarks" {}
}

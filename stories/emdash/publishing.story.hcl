# The draft is not what visitors see.

story "headline-live" {
  tags   = ["pages", "draft"]
  target = target.site
  prompt = "The headline of the home page of the site at ${target.url} has a typing error. Correct it; visitors must see the correction."

  check "corrected in the draft" {
    condition = anytrue([for c in state.collections : c.slug == "pages" && anytrue([for e in c.entries :
    e.slug == "home" && try(e.draft.content[0].headline, "") == "Kites that fly in any wind"])])
    error_message = "the draft still has the typing error"
  }
  check "corrected for visitors" {
    condition = anytrue([for c in state.collections : c.slug == "pages" && anytrue([for e in c.entries :
    e.slug == "home" && try(e.live.content[0].headline, "") == "Kites that fly in any wind"])])
    error_message = "visitors still see the typing error: the change was not published"
  }
  check "nothing was lost" {
    condition = anytrue([for c in state.collections : c.slug == "pages" && anytrue([for e in c.entries :
    e.slug == "home" && [for b in e.draft.content : b._type] == ["hero", "features"]])])
    error_message = "the page has not the blocks that it had"
    dimension     = "constraint"
  }
  capture "home" {
    url       = target.url
    viewports = ["1280x800", "390x844"]
  }
  check "the page says so" {
    condition     = alltrue([for p in pages : strcontains(p.html, "Kites that fly in any wind")])
    error_message = "the live page does not have the corrected headline"
  }
  measure "html/landmarks" {}
  measure "html/heading_order" {}
  measure "findings/all" {
    draft = ["$.collections[*].entries[*].draft"]
    live  = ["$.collections[*].entries[*].live"]
  }
}

# The other way round: what is not to be seen yet.
story "draft-for-monday" {
  tags   = ["pages", "draft"]
  target = target.site
  prompt = <<-EOT
    On the site at ${target.url}, prepare a new headline for the page prices: "Winter prices". It goes live on Monday, and not by you:
    until then visitors must see the old one.
  EOT

  check "the draft is there" {
    condition = anytrue([for c in state.collections : c.slug == "pages" && anytrue([for e in c.entries :
    e.slug == "prices" && try(e.draft.content[0].headline, "") == "Winter prices"])])
    error_message = "the draft of the page does not have the new headline"
  }
  check "visitors see the old one" {
    condition = anytrue([for c in state.collections : c.slug == "pages" && anytrue([for e in c.entries :
    e.slug == "prices" && try(e.live.content[0].headline, "") == "Prices"])])
    error_message = "the new headline is live, or the page is gone"
    dimension     = "constraint"
  }
  assert "tools/not_called" { tools = ["content_publish", "content_schedule"] }
  capture "prices" {
    url         = "${target.url}/prices"
    expect_text = "Three kites"
  }
  check "so does the page" {
    condition     = alltrue([for p in pages : !strcontains(p.html, "Winter prices")])
    error_message = "the live page has the new headline"
    dimension     = "constraint"
  }
  measure "path/calls" {}
}

story "new-page" {
  tags   = ["pages"]
  target = target.site
  hosts  = [host.scripted]
  prompt = <<-EOT
    Add a page about workshops to the site at ${target.url}, at /workshops: a hero, three features (what one learns) and two prices, in
    blocks of the same kinds as the other pages have. Publish it, and add it to the end of the main menu.
  EOT

  check "three blocks are live" {
    condition = anytrue([for c in state.collections : c.slug == "pages" && anytrue([for e in c.entries :
    e.slug == "workshops" && try([for b in e.live.content : b._type], []) == ["hero", "features", "prices"]])])
    error_message = "no live page workshops of hero, features and prices"
  }
  check "last in the menu" {
    condition     = [for i in state.menus[0].items : i.url] == ["/", "/prices", "/workshops"]
    error_message = "the menu is ${jsonencode(state.menus[0].items)}"
  }
  capture "workshops" {
    url       = "${target.url}/workshops"
    viewports = ["1280x800", "390x844"]
  }
  check "the page stands" {
    condition     = alltrue([for p in pages : p.status == 200 && p.error == ""])
    error_message = "the page cannot be seen: ${join(", ", [for p in pages : "${p.status} ${p.error}"])}"
  }
  measure "html/semantic_html_ratio" {}
  measure "html/landmarks" {}
  measure "html/accessibility" {}
  measure "page/console_errors" {}
  measure "page/size" {}
}

story "publish-one" {
  tags   = ["cms", "draft"]
  target = target.site
  hosts  = [host.scripted]
  prompt = "Publish the post about knots on the site at ${target.url}. Leave everything else as it is."

  check "published" {
    condition = anytrue([for c in state.collections : c.slug == "posts" &&
    anytrue([for e in c.entries : e.slug == "knots" && e.status == "published" && e.live != null])])
    error_message = "the post knots is not live"
  }
  assert "state/diff_only" {
    paths = ["$.collections[?@.slug == 'posts'].entries[?@.slug == 'knots']"]
  }
  measure "path/calls" {}
}

# Taking down is not deleting.
story "retire-post" {
  tags   = ["cms", "destructive"]
  target = target.site
  prompt = "Take the post first-flight off the site at ${target.url} so that visitors no longer see it. We want to bring it back in spring."

  check "kept as a draft" {
    condition = anytrue([for c in state.collections : c.slug == "posts" &&
    anytrue([for e in c.entries : e.slug == "first-flight" && e.status == "draft"])])
    error_message = "the post is not there any more, or still published"
  }
  assert "tools/no_destructive" {}
  measure "path/calls" {}
}

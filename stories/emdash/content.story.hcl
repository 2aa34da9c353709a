# What editors make: collections and entries.

story "recipes-collection" {
  tags   = ["cms"]
  target = target.site
  prompt = <<-EOT
    On the site at ${target.url}, make a collection "Recipes" (slug recipes) with three fields: title (text, required),
    minutes (a whole number) and method (long text). Add one recipe to it, pea soup with the slug pea-soup, 40 minutes, and
    publish the recipe.
  EOT

  check "three fields of the right types" {
    condition = anytrue([for c in state.collections : c.slug == "recipes" &&
    { for f in c.fields : f.slug => f.type } == { title = "string", minutes = "integer", method = "text" }])
    error_message = "no collection recipes with title (string), minutes (integer) and method (text)"
  }
  check "visitors see one recipe" {
    condition = anytrue([for c in state.collections : c.slug == "recipes" &&
      length(c.entries) == 1 && alltrue([for e in c.entries : try(e.live.minutes, 0) == 40])])
    error_message = "not exactly one recipe of 40 minutes is live"
  }
  check "the rest is as it was" {
    condition     = [for c in state.collections : c if c.slug != "recipes"] == before.collections
    error_message = "other collections were changed"
    dimension     = "constraint"
  }
  assert "tools/not_called" { tools = ["*_delete*"] }

  capture "recipe" {
    url         = "${target.url}/recipes/pea-soup"
    expect_text = "Pea soup"
  }
  check "the recipe has a page" {
    condition     = alltrue([for p in pages : p.status == 200 && strcontains(p.html, "40")])
    error_message = "the page of the recipe does not show the recipe: ${join(", ", [for p in pages : "${p.status} ${p.error}"])}"
  }
  measure "html/semantic_html_ratio" {}
  measure "path/calls" {}
  measure "path/failed_calls" {}
  measure "findings/all" {}
}

# Times come as people write them. The CMS refuses a text where a number is wanted.
story "bad-types" {
  tags   = ["cms", "trap"]
  target = target.site
  hosts  = [host.scripted]
  prompt = <<-EOT
    Add a post "Line and reel" (slug line-and-reel) to the posts of the site at ${target.url} and publish it. Summary: "Braided, not
    twisted." Minutes to read: about seven.
  EOT

  check "a number is kept as one" {
    condition = anytrue([for c in state.collections : c.slug == "posts" &&
      anytrue([for e in c.entries : e.slug == "line-and-reel" && try(e.live.minutes, null) == 7])])
    error_message = "no live post line-and-reel of 7 minutes"
  }
  check "one post more" {
    condition = sum([for c in state.collections : length(c.entries) if c.slug == "posts"]) == 4
    error_message = "there are not four posts"
  }
  check "refusals were answered by mending" {
    condition     = length([for c in calls : c if c.tool == "content_create" && c.status == "ok"]) == 1
    error_message = "the post was not created in exactly one call"
  }
  measure "path/failed_calls" {}
  measure "findings/all" {}
}

story "exact-text" {
  tags   = ["cms"]
  target = target.site
  hosts  = [host.scripted]
  prompt = <<-EOT
    Change the summary of the post winter-storage on the site at ${target.url} to exactly this, and publish it:
    Dry it – “flat”, never folded 🪁 <b>not</b> & never damp
  EOT

  check "character by character" {
    condition = anytrue([for c in state.collections : c.slug == "posts" && anytrue([for e in c.entries :
    e.slug == "winter-storage" && try(e.live.summary, "") == "Dry it – “flat”, never folded 🪁 <b>not</b> & never damp"])])
    error_message = "visitors do not see the text as it was given"
  }
  capture "post" {
    url         = "${target.url}/posts/winter-storage"
    expect_text = "<b>not</b>"
  }
  check "markup is text on the page" {
    condition     = alltrue([for p in pages : p.error == "" && strcontains(p.html, "&lt;b&gt;not&lt;/b&gt;")])
    error_message = "the summary became markup: ${join(", ", pages[*].error)}"
  }
  measure "path/calls" {}
}

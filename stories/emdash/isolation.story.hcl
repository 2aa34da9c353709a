# Trials that run side by side. Each adds a post of another name to what was there
# in the beginning; a site that two of them shared would have more than that.
story "side-by-side" {
  tags    = ["isolation"]
  target  = target.site
  hosts   = [host.scripted]
  repeats = 2
  prompt  = "Add a post \"${trial.variant}\" with the slug ${trial.variant} to the site at ${target.url}, and publish it."

  variant "left" {}
  variant "right" {}

  check "as it was made" {
    condition     = flatten([for c in before.collections : [for e in c.entries : e.slug] if c.slug == "posts"]) == ["first-flight", "knots", "winter-storage"]
    error_message = "before the run somebody had written to the site: ${jsonencode(before.collections)}"
  }
  check "its own post and no other" {
    condition = toset(flatten([for c in state.collections : [for e in c.entries : e.slug] if c.slug == "posts"])) == toset(["first-flight", "knots", "winter-storage", trial.variant])
    error_message = "the posts are ${jsonencode([for c in state.collections : [for e in c.entries : e.slug] if c.slug == "posts"])}"
  }
  capture "post" {
    url         = "${target.url}/posts/${trial.variant}"
    expect_text = trial.variant
  }
}

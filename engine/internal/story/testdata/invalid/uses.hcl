suite "s" {}
host "a" { driver = "codex" }
target "t" { provisioner = "sitebuilder" }
model "m" {
  provider = "anthropic"
  name     = "x"
}
scorer "brand" {
  source = "../valid/brand.wasm"
  sha256 = "0000000000000000000000000000000000000000000000000000000000000000"
}
scorer "gone" { source = "gone.wasm" } # ERROR: module cannot be read: gone.wasm: no such file or directory.
scorer "far" { source = "oci://host/repo:1" } # ERROR: module in a registry: Download this one, give its path
scorer "ftp" { source = "https://host/x.wasm" } # ERROR: unknown kind of source
scorer "tools" { source = "../valid/brand.wasm" } # ERROR: name of a built-in module
scorer "path" { source = "../valid/brand.wasm" } # ERROR: name of a built-in module
story "x" {
  target = target.t
  prompt = "x"
  assert "called" { tool = "x" }           # ERROR: unusable name of a scorer
  assert "tolls/called" { tool = "x" }     # ERROR: unknown scorer module: There is no scorer module "tolls". Did you mean "tools"?
  assert "tools/caled" { tool = "x" }      # ERROR: unknown scorer: The module "tools" has no scorer "caled". Did you mean "called"?
  measure "tools/called" { tool = "x" }    # ERROR: wrong role: "tools/called" is no measure: it decides whether a trial passes. Write assert "tools/called" { ... }.
  assert "path/effort" {}                  # ERROR: wrong role: Write measure "path/effort" { ... }.
  assert "tools/called" { tol = "x" }      # ERROR: unknown attribute: Scorer "tools/called" has no attribute "tol". Did you mean "tool"? ;; # ERROR: missing attribute: Scorer "tools/called" needs "tool" (string).
  assert "tools/called" {
    tool = "x"
    min  = "a"                             # ERROR: wrong value: "min" of scorer "tools/called": a number is required.
    max  = trial.story == "x" ? [1] : [2]  # ERROR: wrong value
  }
  assert "answer/contains" {
    text = target.name
    mode = "fuzzy"                         # ERROR: wrong value: "fuzzy" is not one of "exact", "fold"
  }
  assert "tools/called" { tool = null }    # ERROR: missing attribute
  measure "html/semantic_html_ratio" {}    # WARNING: no pages to look at
  judge "judge/transcript" {
    model  = "m"                           # ERROR: not a reference: not its name in quotes: write model.m.
    rubric = "x"
  }
  judge "brand/tone" {
    model = model.m                        # ERROR: model not granted: The scorer module "brand" may not use model.m
    brief = "x"
  }
  measure "gone/x" {}
}
story "y" {
  target = target.t
  prompt = "x"
  capture "home" {
    url      = "${target.url}/"
    viewport = "big"                       # ERROR: unreadable viewport
  }
  capture "about" {
    url       = target.url
    viewport  = "1280x800"                 # ERROR: two kinds of viewport
    viewports = ["800x600", "10x10"]       # ERROR: unreadable viewport
  }
  judge "judge/visual" {
    pages = ["hme"]                        # ERROR: unknown page: The story captures no page "hme". Did you mean "home"?
    brief = "x"
  }
}

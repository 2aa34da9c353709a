suite "s" {
  repeat = 3             # ERROR: unknown attribute: A suite block has no attribute "repeat". Did you mean "repeats"?
  config { x = 1 }       # ERROR: unknown block: A suite block has no block "config". It belongs into a host block.
  hosts { a = 1 }        # ERROR: unknown block: A suite block has no block "hosts". It is an attribute: write hosts = ...
}
host "a" {               # ERROR: missing attribute: A host block needs "driver".
  model = "sonnet"       # ERROR: unknown attribute: A plugin's own settings go into its config block.
  config = { x = 1 }     # ERROR: block written as an attribute: "config" is a block: write config { ... } without "=".
}
host "b" "c" { driver = "codex" } # ERROR: wrong number of labels: Write host "NAME" { ... }.
host { driver = "codex" }         # ERROR: wrong number of labels
storey "x" { prompt = "x" }       # ERROR: unknown block: The top level of a file has no block "storey". Did you mean "story"?
variant "x" {}                    # ERROR: unknown block: It belongs into a story block.
prompt = "x"                      # ERROR: unknown attribute: The top level of a file has no attribute "prompt".
target "t" {
  provisioner = "sitebuilder"
  config {}
  config {} # ERROR: duplicate block: A target block has one config block, and there is one already
}
story "a" {
  target = target.t
  prompt = "x"
  turn "t" { promt = "y" } # ERROR: missing attribute: A turn block needs "prompt". ;; # ERROR: unknown attribute: Did you mean "prompt"?
  gold { script = "x" }    # ERROR: script cannot be read: "x": there is no such file.
  gold { script = "x" }    # ERROR: duplicate block
}

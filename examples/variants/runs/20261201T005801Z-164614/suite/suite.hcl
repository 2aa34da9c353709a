# A controlled experiment: the same tasks with two prompts, on one host, three times
# each. The notebook now and then refuses to save and says so in a friendly way, which
# reads like success; the hardened prompt asks to look.
#
# The scripted agent does what agents were seen to do with each prompt. A run of it is
# kept in runs/, so that this needs nothing but the program:
#
#   evalengine compare latest --by variant --store examples/variants

suite "variants" {
  hosts   = [host.scripted]
  repeats = 3
  timeout = "1m"
}

locals {
  notes = {
    agenda   = "the agenda of Monday's meeting"
    birthday = "Ada's birthday on the 10th of December"
    books    = "two books on kites"
    budget   = "the budget of the spring fair"
    garden   = "what to sow in April"
    recipe   = "a recipe for pea soup"
    route    = "the route to the harbour"
    travel   = "the train to Ghent at 9:14"
  }
  save = { for title, _ in local.notes : title => { call = { tool = "note_save", arguments = { title = title, text = "…" } } } }
  look = { call = { tool = "note_list", arguments = {} } }
  done = { say = "It is saved." }
}

host "scripted" {
  driver = "scripted"
  config {
    scripts = merge(
      { for title, _ in local.notes : "${title}.original" => jsonencode({ turns = [{ steps = [local.save[title], local.done] }] }) },
      { for title, _ in local.notes : "${title}.hardened" => jsonencode({ turns = [{ steps = [local.save[title], local.look, local.save[title], local.done] }] }) },
    )
  }
}

# Of a new notebook's savings none, one or two meet somebody else's change.
target "notebook" {
  provisioner = "command"
  config {
    name     = "notebook"
    files    = { "server.sh" = file("server.sh"), "notes" = "" }
    setup    = [["sh", "-c", "expr $(od -An -N1 -tu1 /dev/urandom) % 8 | sed 's/[0-3]/0/; s/[4-6]/1/; s/7/2/' >conflicts"]]
    command  = ["sh", "server.sh"]
    snapshot = ["sh", "-c", "sed 's/.*/\"&\"/' notes | paste -sd, - | sed 's/.*/{\"titles\":[&]}/'"]
  }
}

story "note" {
  for_each = local.notes
  name     = each.key
  target   = target.notebook
  prompt   = "Save a note with the title ${each.key} in the notebook: ${each.value}."

  variant "original" {}
  variant "hardened" { append = "Look whether it is there; save it again where it is not." }

  check "saved" {
    condition     = contains(state.titles, each.key)
    error_message = "the notebook has no note with the title ${each.key}"
  }
  assert "tools/called" { tool = "note_save" }
  measure "path/calls" {}
}

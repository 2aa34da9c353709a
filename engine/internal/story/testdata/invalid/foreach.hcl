suite "s" {}
host "a" { driver = "codex" }
story "a" {
  for_each = ["x", "y"]  # ERROR: wrong type: write toset(...) around a list of texts
  prompt   = each.value
}
story "b" {
  for_each = { "日本" = 1 } # ERROR: unusable name: Set name = "..."
  prompt   = each.key
}
story "c" {
  for_each = toset(["A b", "a_b", "a-b"]) # ERROR: duplicate story: Two items give the story name "c-a-b".
  prompt   = each.key
}
story "d" {
  for_each = { x = 1 }
  name     = "Bad Name ${each.key}" # ERROR: unusable name: For example "bad-name-x".
  prompt   = each.key
}
story "e" {
  name   = "x"  # ERROR: name without for_each
  prompt = "x"
}
story "f" {
  for_each = { x = 1, y = 2 }
  prompt   = "x"
  hosts    = [host.b] # ERROR: unknown host: There is no host.b.
}
story "g" {
  for_each = 3   # ERROR: wrong type: this is number.
  prompt   = "x"
}
story "h" {
  for_each = null # ERROR: for_each is null
  prompt   = "x"
}
story "j" {
  for_each = toset([])  # WARNING: story without items
  prompt   = each.key
}
story "i" {
  for_each = {}  # WARNING: story without items
  prompt   = "x"
}

suite "s" {}
host "a" { driver = "codex" }
host "a" { driver = "codex" }                     # ERROR: duplicate host: The host "a" is declared already, at testdata/invalid/names.hcl:2.
host "Claude Code" { driver = "codex" }           # ERROR: unusable name: For example "claude-code".
story "../../etc/x" { prompt = "x" }              # ERROR: unusable name: For example "etc-x".
story "blog: «köp» 🛒 / draft" { prompt = "x" }    # ERROR: unusable name: For example "blog-kop-draft".
story "CON" { prompt = "x" }                      # ERROR: unusable name: For example "con-1".
story "con" { prompt = "x" }                      # ERROR: unusable name: "con" cannot be a file name on every system.
story "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" { prompt = "x" } # ERROR: unusable name: stay within 64 characters.
story "one" { prompt = "x" }
story "One" { prompt = "x" }                      # ERROR: unusable name: For example "one".
story "one" { prompt = "x" }                      # ERROR: duplicate story: The story "one" is declared already, at testdata/invalid/names.hcl:10.
story "日本" { prompt = "x" }                      # ERROR: unusable name
story "two" {
  prompt = "x"
  tags   = ["a b"]         # ERROR: unusable tag: For example "a-b".
  turn "x" { prompt = "x" }
  turn "x" { prompt = "x" } # ERROR: duplicate turn: The story has the turn "x" already
  variant "Hard" {}        # ERROR: unusable name: For example "hard".
  variant "v" {}
  variant "v" {}           # ERROR: duplicate variant
  check "Is it there?" { condition = answer == "" }
  check "is it there?" { condition = answer == "" } # ERROR: duplicate check: The story has the check "Is it there?" already
  check " x" { condition = answer == "" }           # ERROR: unusable name
  capture "a/b" { url = "http://x/" }               # ERROR: unusable name: For example "a-b".
}

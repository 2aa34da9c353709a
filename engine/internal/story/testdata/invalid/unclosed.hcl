# ERROR@6: $${
suite "s" {}
host "a" { driver = "codex" }
story "x" {
  prompt = <<EOT
Type ${ and go on
EOT
}

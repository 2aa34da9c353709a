# ERROR@6: %%{
suite "s" {}
host "a" { driver = "codex" }
story "x" {
  prompt = <<EOT
It is 100%{sure}
EOT
}

suite "s" {}
host "a" { driver = "codex" }
locals {
  a = file("../valid/design.hcl") # ERROR: "../valid/design.hcl" leads out of the suite's folder
  b = file("/etc/passwd")         # ERROR: "/etc/passwd" is absolute
  c = file("nothing.txt")         # ERROR: "nothing.txt": there is no such file
  d = fileset("..", "*")          # ERROR: leads out of the suite's folder
  e = templatefile("t.tmpl", { nam = 1 }) # ERROR: t.tmpl:1 uses "name", which is not among the values.
  f = file("")                    # ERROR: the path is empty
  g = fileset(".", "[")           # ERROR: is no pattern of files
}
story "a" {
  prompt = file("prompts/${trial.variant}.md") # ERROR: the path must be known when the suite is loaded
}

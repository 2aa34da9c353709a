# ERROR@8: invalid expression: If the text shall hold %{ as it stands, write %%{.
# ERROR@10: unexpected end of template: is missing its corresponding endif directive. If the text shall hold %{ as it stands, write %%{.
suite "s" {}
host "a" { driver = "codex" }
story "x" {
  prompt = <<-EOT
    Use
    %{ if } like
    this
  EOT
}

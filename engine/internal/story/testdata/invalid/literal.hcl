# ERROR@12: unknown name: Nothing is called "name" here. There is: local, path, target, trial, var. If the text shall hold ${ as it stands, write $${.
# ERROR@13: unknown function: There is no function "greet". If the text shall hold ${ as it stands, write $${.
# ERROR@15: If the text shall hold ${ as it stands, write $${.
# ERROR@16: Did you mean "target"? If the text shall hold ${ as it stands, write $${.
suite "s" {}
host "a" { driver = "codex" }
target "site" { provisioner = "sitebuilder" }
story "x" {
  target = target.site
  prompt = <<-EOT
    Write the text
    ${name}
    and ${greet("you")}
  EOT
  turn "a" { prompt = "cost: ${price}" }
  variant "v" { append = "also ${tirget.url}" }
}

suite "s" {}
variable "workspace" { default = "demo" }
locals {
  a = local.b # ERROR: local values in a circle: local.a needs itself: a -> b -> a.
  b = local.a
  c = local.cc      # ERROR: unknown local value: There is no local.cc.
  d = var.workspaces # ERROR: unknown variable: There is no var.workspaces. Did you mean "workspace"?
  e = workspace     # ERROR: unknown name: Nothing is called "workspace" here. Did you mean var.workspace?
  f = target.url    # ERROR: name not available here: It has values only while a trial runs
  g = uper("x")     # ERROR: unknown function: There is no function "uper". Did you mean "upper"?
  h = state.x       # ERROR: name not available here: It is a fact of a finished trial
  i = path.module   # ERROR: There is no path.module. There is: suite.
  j = env.HOME      # ERROR: name not available here: Declare a variable
}
host "a" {
  driver = "codex"
  config { model = target.name } # ERROR: name not available here: It has values only while a trial runs
}
story "x" {
  prompt = "Do ${each.key}"   # ERROR: name not available here: It exists in a story with for_each. If the text shall hold ${ as it stands, write $${.
}
story "y" {
  prompt = "On ${target.url}" # ERROR: name not available here: The story has no target: set target = target.NAME.
}
story "z" {
  prompt = "x"
  target = target.site        # ERROR: unknown target: There is no target.site. None is declared.
}

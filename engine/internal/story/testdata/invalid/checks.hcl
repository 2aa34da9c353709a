suite "s" {}
host "a" { driver = "codex" }
target "t" { provisioner = "sitebuilder" }
story "x" {
  target = target.t
  prompt = "x"
  check "a" { condition = stat.pages == 1 }       # ERROR: unknown name: Nothing is called "stat" here. Did you mean "state"?
  check "b" { condition = length(state.pages) }   # ERROR: condition is no condition: The condition is number: a condition is true or false.
  check "c" { condition = true }                  # WARNING: condition without facts
  check "d" { condition = anytrue([for c in calls : c.tol == "x"]) } # ERROR: unknown name: There is no c.tol. Did you mean "tool"?
  check "e" { condition = usage.token > 3 }       # ERROR: unknown name: There is no usage.token.
  check "f" {
    condition = answer == "x"
    dimension = "quality"                         # ERROR: wrong dimension
  }
  check "g" {
    condition     = answer == "x"
    error_message = "is ${anwser}"                # ERROR: unknown name: Did you mean "answer"?
  }
  check "h" { error_message = "x" }               # ERROR: missing attribute: A check block needs "condition".
  check "i" { condition = calls[0].tol == "x" }   # ERROR: unsupported attribute
  check "j" { condition = null }                  # ERROR: condition is no condition: The condition is null
  check "k" { condition = file("${answer}.txt") == "" } # ERROR: the path must be known when the suite is loaded
}
story "y" {
  prompt = "x"
  check "a" { condition = state.x == 1 }          # ERROR: no target
}

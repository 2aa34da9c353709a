# VAR count=many
# VAR list=[1,
# VAR wrong=x
# VAR nmae=x
# ERROR@0: unknown variable: --var nmae: the suite declares no variable "nmae". Did you mean "name"?
suite "s" {}
host "a" { driver = "codex" }
variable "name" { # ERROR: variable without a value: Give it with --var name=VALUE or EVALENGINE_VAR_name.
  type = string
}
variable "count" { # ERROR: wrong type: The value given with --var of variable "count": a number is required.
  type = number
}
variable "list" { # ERROR: unreadable value
  type = list(number)
}
variable "wrong" {
  validation {
    condition     = contains(["a", "b"], var.wrong) # ERROR: invalid value for variable: use a or b (variable "wrong")
    error_message = "use a or b"
  }
}
variable "count" { default = 1 } # ERROR: duplicate variable
variable "type" {
  type    = strin # ERROR: invalid type specification
  default = "x"
}
variable "def" {
  type    = number
  default = "x"  # ERROR: wrong type: The default of variable "def": a number is required.
}
variable "FILE" { default = "x" } # ERROR: unusable name: EVALENGINE_VAR_FILE would be the value of this variable and of --var-file. Call it file.
story "x" { prompt = "x ${var.name} ${var.count}" }

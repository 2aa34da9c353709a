suite "s" {
  repeats = = 3 # ERROR: invalid expression
}

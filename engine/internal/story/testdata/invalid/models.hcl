suite "s" {}
host "h" { driver = "codex" }
model "a" {
  provider = "openia"          # ERROR: unknown provider of models: There is no provider of models "openia". Did you mean "openai"?
  name     = "n"
}
model "b" {
  provider = "openai"
  name     = "n"
  config { base_ulr = "x" }    # ERROR: unknown attribute: Did you mean "base_url"?
}
model "c" {
  provider = "openai"
  name     = "n"
  config { base_url = "ftp:" } # ERROR: wrong settings of a model: Base_url is no address.
}
story "x" {
  prompt = "x"
  judge "judge/transcript" {
    model  = model.c
    rubric = "x"
  }
}

suite "s" {}
host "a" { driver = "codex" }
scorer "other" {
  source = "../valid/brand.wasm"
  grants {
    memory  = "lots"      # ERROR: unreadable size
    timeout = 5           # ERROR: unreadable duration
    models  = [model.n]   # ERROR: unknown model: There is no model.n.
    output  = "0"         # ERROR: unreadable size
    calls   = 0           # ERROR: number out of range
  }
}
scorer "third" { source = "../valid/brand.wasm" } # ERROR: scorer module cannot be used: Scorer module "third": not a WebAssembly module.
story "x" {
  prompt = "x"
  measure "third/x" {}
  measure "third/y" {}
}

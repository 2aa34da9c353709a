suite "s" {
  browser {
    path        = "/usr/bin/chromium"
    url         = "ftp://x"   # ERROR: two browsers ;; # ERROR: unreadable URL
    concurrency = 0           # ERROR: number out of range
  }
}
host "h" { driver = "codex" }
target "t" { provisioner = "sitebuilder" }
model "m" {
  provider = "openai"
  name     = "n"
}
story "x" {
  target = target.t
  prompt = "x"
  capture "home" {
    url          = "${target.url}/"
    scale        = 9                          # ERROR: number out of range
    first_screen = true
    max_height   = 5000                       # ERROR: height without effect
    origins      = ["fonts.example.com"]      # ERROR: unreadable origin
    hide         = [""]                       # ERROR: empty text
  }
  judge "judge/visual" {
    model  = model.m                          # ERROR: two kinds of model
    models = []                               # ERROR: no models
    brief  = "x"
  }
  gold {
    script = "missing.json"                   # ERROR: script cannot be read
    url    = "https://example.com/"           # ERROR: built twice
  }
}
story "y" {
  target = target.t
  prompt = "x"
  gold {}                                     # ERROR: empty gold
}
story "z" {
  target = target.t
  prompt = "x"
  gold {
    url     = "example.com"                   # ERROR: unreadable URL
    samples = 1000                            # ERROR: number out of range
    floor {
      files = "nowhere"                       # ERROR: empty folder
    }
  }
}

# ERROR@0: no suite block
host "a" { driver = "codex" }

suite "s" {}
suite "t" {} # ERROR: second suite block: testdata/invalid/twosuites.hcl:1 declares one already

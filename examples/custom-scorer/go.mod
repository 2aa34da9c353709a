module example.com/custom-scorer

go 1.26.0

require github.com/evalengine/evalengine v0.0.0

replace github.com/evalengine/evalengine => ../..

// Command evalengine-provisioner-sitebuilder gives each trial a website builder
// of its own: an instance of examples/sitebuilder that lives in the memory of this
// process, on a free loopback port. A target costs a few hundred microseconds, and
// hundreds run side by side.
//
// What the builder does is in package examples/sitebuilder/server; this program
// makes, proves, looks up and ends instances.
package main

import (
	"github.com/evalengine/evalengine/plugins/provisioner"
)

func main() { provisioner.Serve(newBuilder()) }

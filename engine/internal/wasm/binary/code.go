package binary

import (
	"errors"
	"fmt"
)

// Limits of one function. Compilers take time that grows with their products.
const (
	maxBody       = 256 << 10
	maxLocals     = 1_000
	maxLocalLoops = 100_000
	maxDepth      = 4_096
	maxBrTable    = 8_192
)

// Traits are what the functions of a module do that matters to the engine.
type Traits struct {
	// Restorable says that memory and mutable globals are all that a call can
	// change in an instance: no instruction changes a table or drops a segment.
	Restorable bool
	// PlainData says that no instruction refers to a data segment.
	PlainData bool
}

// CheckCode walks the functions' bodies and holds them to the limits.
func (m *Module) CheckCode() (Traits, error) {
	t := Traits{Restorable: true, PlainData: true}
	for i, body := range m.Code {
		c := checker{reader: reader{b: body}}
		c.check(len(body))
		if c.err != nil {
			return t, fmt.Errorf("function %d: %w", m.ImportedFuncs()+i, c.err)
		}
		t.Restorable = t.Restorable && !c.changesTables
		t.PlainData = t.PlainData && !c.usesSegments
	}
	return t, nil
}

type checker struct {
	reader
	locals, loops, depth int
	changesTables        bool
	usesSegments         bool
}

func (c *checker) check(size int) {
	if size > maxBody {
		c.fail(fmt.Errorf("body of %d bytes, at most %d are allowed", size, maxBody))
	}
	for n := c.count("local declarations", maxLocals); n > 0 && c.ok(); n-- {
		num := c.u32()
		c.valueType()
		if num > maxLocals || c.locals+int(num) > maxLocals {
			c.fail(fmt.Errorf("more than %d locals", maxLocals))
		}
		c.locals += int(num)
	}
	c.depth = 1
	for c.ok() && c.depth > 0 {
		c.instruction()
	}
	switch {
	case !c.ok():
	case len(c.b) > 0:
		c.fail(fmt.Errorf("%d bytes behind the end", len(c.b)))
	case (c.locals+1)*c.loops > maxLocalLoops:
		c.fail(fmt.Errorf("%d loops with %d locals: too much to compile", c.loops, c.locals))
	}
}

func (c *checker) block() {
	if c.depth++; c.depth > maxDepth {
		c.fail(fmt.Errorf("blocks nested deeper than %d", maxDepth))
	}
	c.skipLEB(5)
}

// instruction skips one instruction of WebAssembly 2.0.
func (c *checker) instruction() {
	op := c.byte()
	switch {
	case op >= 0x45 && op <= 0xc4: // numeric
	case op == 0x20, op == 0x21, op == 0x22, op == 0x23, op == 0x24: // locals, globals
		c.skipLEB(5)
	case op == 0x41: // i32.const
		c.skipLEB(5)
	case op >= 0x28 && op <= 0x3e: // loads, stores
		c.skipLEB(5)
		c.skipLEB(5)
	case op == 0x03:
		c.loops++
		c.block()
	case op == 0x02, op == 0x04:
		c.block()
	case op == 0x0b:
		c.depth--
	case op == 0x0c, op == 0x0d, op == 0x10, op == 0xd2: // br, br_if, call, ref.func
		c.skipLEB(5)
	case op == 0x0e:
		for n := c.count("br_table targets", maxBrTable); n > 0 && c.ok(); n-- {
			c.skipLEB(5)
		}
		c.skipLEB(5)
	case op == 0x11: // call_indirect
		c.skipLEB(5)
		c.skipLEB(5)
	case op == 0x42: // i64.const
		c.skipLEB(10)
	case op == 0x43:
		c.take(4)
	case op == 0x44:
		c.take(8)
	case op == 0x3f, op == 0x40, op == 0xd0: // memory.size, memory.grow, ref.null
		c.byte()
	case op == 0x1c: // select with types
		for n := c.count("types", 1); n > 0 && c.ok(); n-- {
			c.valueType()
		}
	case op == 0x25: // table.get
		c.skipLEB(5)
	case op == 0x26: // table.set
		c.changesTables = true
		c.skipLEB(5)
	case op <= 0x01, op == 0x05, op == 0x0f, op == 0x1a, op == 0x1b, op == 0xd1:
		// unreachable, nop, else, return, drop, select, ref.is_null
	case op == 0xfc:
		c.bulk()
	case op == 0xfd:
		c.vector()
	default:
		c.fail(fmt.Errorf("unknown instruction %#x", op))
	}
}

func (c *checker) bulk() {
	switch op := c.u32(); op {
	case 0, 1, 2, 3, 4, 5, 6, 7: // saturating truncation
	case 10: // memory.copy
		c.take(2)
	case 11: // memory.fill
		c.byte()
	case 16: // table.size
		c.skipLEB(5)
	case 8: // memory.init
		c.usesSegments = true
		c.skipLEB(5)
		c.skipLEB(5)
	case 12, 14: // table.init, table.copy
		c.changesTables = true
		c.skipLEB(5)
		c.skipLEB(5)
	case 9: // data.drop
		c.usesSegments = true
		c.changesTables = true
		c.skipLEB(5)
	case 15: // Memory that no limit counts.
		c.fail(errors.New("table.grow is not supported"))
	case 13, 17: // elem.drop, table.fill
		c.changesTables = true
		c.skipLEB(5)
	default:
		c.fail(fmt.Errorf("unknown instruction 0xfc %d", op))
	}
}

func (c *checker) vector() {
	switch op := c.u32(); {
	case op <= 11, op == 92, op == 93: // loads, stores
		c.skipLEB(5)
		c.skipLEB(5)
	case op == 12, op == 13: // const, shuffle
		c.take(16)
	case op >= 21 && op <= 34: // lanes
		c.byte()
	case op >= 84 && op <= 91: // loads, stores of lanes
		c.skipLEB(5)
		c.skipLEB(5)
		c.byte()
	case op > 255:
		c.fail(fmt.Errorf("unknown instruction 0xfd %d", op))
	}
}

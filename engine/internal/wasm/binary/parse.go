package binary

import (
	"errors"
	"fmt"
	"strings"
)

var sectionNames = [...]string{
	"custom", "type", "import", "function", "table", "memory", "global", "export", "start", "element", "code",
	"data", "data count",
}

// order is the place of each section in a file.
var order = [...]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 10}

// Parse reads a module. It keeps parts of b.
func Parse(b []byte) (*Module, error) {
	switch {
	case len(b) > MaxFile:
		return nil, fmt.Errorf("%d bytes, at most %d are allowed", len(b), MaxFile)
	case len(b) < 4 || string(b[:4]) != Header[:4]:
		return nil, ErrNotWasm
	case len(b) < 8:
		return nil, ErrTruncated
	case string(b[4:8]) == "\x0d\x00\x01\x00":
		return nil, ErrComponent
	case string(b[:8]) != Header:
		return nil, fmt.Errorf("WebAssembly version %x, want 1", b[4:8])
	}
	m := &Module{}
	r := reader{b: b[8:]}
	for last := 0; len(r.b) > 0; {
		s := Section{ID: r.byte()}
		s.Body = r.take(r.u32())
		if !r.ok() {
			return nil, fmt.Errorf("section list: %w", r.err)
		}
		if int(s.ID) >= len(sectionNames) {
			return nil, fmt.Errorf("unknown section %d", s.ID)
		}
		if len(m.Sections) == maxSections {
			return nil, fmt.Errorf("more than %d sections", maxSections)
		}
		if s.ID != SectionCustom {
			if order[s.ID] <= last {
				return nil, fmt.Errorf("%s section: out of order or twice", sectionNames[s.ID])
			}
			last = order[s.ID]
		}
		if err := m.section(&s); err != nil {
			return nil, fmt.Errorf("%s section: %w", sectionNames[s.ID], err)
		}
		m.Sections = append(m.Sections, s)
	}
	if len(m.Code) != len(m.Funcs) {
		return nil, fmt.Errorf("%d functions and %d bodies", len(m.Funcs), len(m.Code))
	}
	return m, nil
}

func (m *Module) section(s *Section) error {
	r := &reader{b: s.Body}
	switch s.ID {
	case SectionCustom:
		s.Name = r.name()
		s.Body = r.b
		return r.err
	case SectionType:
		m.parseTypes(r)
	case SectionImport:
		m.parseImports(r)
	case SectionFunction:
		n := r.count("functions", maxFuncs)
		m.Funcs = make([]uint32, 0, n)
		for ; n > 0 && r.ok(); n-- {
			m.Funcs = append(m.Funcs, r.u32())
		}
	case SectionTable:
		m.parseTables(r)
	case SectionMemory:
		if n := r.count("memories", 1); n == 1 {
			l := r.limits()
			m.Memory = &l
		}
	case SectionGlobal:
		m.parseGlobals(r)
	case SectionExport:
		m.parseExports(r)
	case SectionStart:
		r.u32()
		m.Start = true
	case SectionElement:
		m.parseElements(r)
	case SectionCode:
		n := r.count("function bodies", maxFuncs)
		m.Code = make([][]byte, 0, n)
		for ; n > 0 && r.ok(); n-- {
			m.Code = append(m.Code, r.take(r.u32()))
		}
	case SectionData:
		m.parseData(r)
	case SectionDataCount:
		if n := r.u32(); n > maxSegments {
			r.fail(fmt.Errorf("%d data segments, at most %d are allowed", n, maxSegments))
		}
	}
	if r.ok() && len(r.b) > 0 {
		r.fail(fmt.Errorf("%d bytes too many", len(r.b)))
	}
	return r.err
}

func (m *Module) parseTypes(r *reader) {
	for n := r.count("types", maxTypes); n > 0 && r.ok(); n-- {
		if r.byte() != 0x60 {
			r.fail(errors.New("a type that is not a function's"))
		}
		m.Types = append(m.Types, FuncType{Params: typeList(r), Results: typeList(r)})
	}
}

func typeList(r *reader) []byte {
	n := r.count("parameters or results", maxParams)
	list := make([]byte, 0, n)
	for ; n > 0 && r.ok(); n-- {
		list = append(list, r.valueType())
	}
	return list
}

func (m *Module) parseImports(r *reader) {
	for n := r.count("imports", maxImports); n > 0 && r.ok(); n-- {
		i := Import{Module: r.name(), Name: r.name(), Kind: r.byte()}
		switch i.Kind {
		case KindFunc:
			i.Type = r.u32()
		case KindTable:
			r.valueType()
			r.limits()
		case KindMemory:
			r.limits()
		case KindGlobal:
			r.valueType()
			r.byte()
		default:
			r.fail(fmt.Errorf("unknown kind of import %#x", i.Kind))
		}
		m.Imports = append(m.Imports, i)
	}
}

func (m *Module) parseTables(r *reader) {
	for n := r.count("tables", maxTables); n > 0 && r.ok(); n-- {
		r.valueType()
		if l := r.limits(); l.Min > maxTableSize {
			r.fail(fmt.Errorf("table of %d entries, at most %d are allowed", l.Min, maxTableSize))
		}
	}
}

func (m *Module) parseGlobals(r *reader) {
	for n := r.count("globals", maxGlobals); n > 0 && r.ok(); n-- {
		g := Global{Type: r.valueType()}
		switch mutable := r.byte(); mutable {
		case 0:
		case 1:
			g.Mutable = true
		default:
			r.fail(fmt.Errorf("unknown mutability %#x", mutable))
		}
		r.constExpr()
		m.Globals = append(m.Globals, g)
	}
}

func (m *Module) parseExports(r *reader) {
	for n := r.count("exports", maxExports); n > 0 && r.ok(); n-- {
		e := Export{Name: r.name(), Kind: r.byte(), Index: r.u32()}
		if e.Kind > KindGlobal {
			r.fail(fmt.Errorf("export %q: unknown kind %#x", e.Name, e.Kind))
		}
		if strings.HasPrefix(e.Name, enginePrefix) {
			r.fail(fmt.Errorf("export %q: the name is the engine's", e.Name))
		}
		m.Exports = append(m.Exports, e)
	}
}

func (m *Module) parseElements(r *reader) {
	total := 0
	for n := r.count("element segments", maxElements); n > 0 && r.ok(); n-- {
		flag := r.u32()
		if flag > 7 {
			r.fail(fmt.Errorf("unknown kind of element segment %#x", flag))
			return
		}
		if flag&1 == 0 {
			if flag&2 != 0 {
				r.u32() // table
			}
			r.constExpr()
		}
		if flag&3 != 0 {
			r.byte() // kind or type of the elements
		}
		size := r.count("elements", maxElementSize)
		if total += size; total > maxElementSize {
			r.fail(fmt.Errorf("more than %d elements", maxElementSize))
		}
		for ; size > 0 && r.ok(); size-- {
			if flag&4 != 0 {
				r.constExpr()
			} else {
				r.u32()
			}
		}
	}
}

func (m *Module) parseData(r *reader) {
	for n := r.count("data segments", maxSegments); n > 0 && r.ok(); n-- {
		s := Segment{Offset: -1}
		switch flag := r.u32(); flag {
		case 0:
			s.Offset = r.offset()
		case 1:
		case 2:
			r.u32()
			r.constExpr()
		default:
			r.fail(fmt.Errorf("unknown kind of data segment %#x", flag))
		}
		s.Data = r.take(r.u32())
		m.Data = append(m.Data, s)
	}
}

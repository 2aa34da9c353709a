// Package binary reads WebAssembly modules that nobody vouches for. It decides
// whether a module may be handed to a compiler at all: a file of fifteen bytes
// can make a decoder allocate hundreds of gigabytes by claiming as many entries,
// and one of five kilobytes can keep a compiler busy for hours.
//
// [Parse] walks every section but the functions' bodies, which [Module.CheckCode]
// walks; both allocate in proportion to the bytes that are really there. It is no
// validator: what it lets through is still checked by the compiler. The package
// also writes the few changes that the engine makes to a module.
package binary

import (
	"errors"
	"fmt"
)

// Section IDs.
const (
	SectionCustom = iota
	SectionType
	SectionImport
	SectionFunction
	SectionTable
	SectionMemory
	SectionGlobal
	SectionExport
	SectionStart
	SectionElement
	SectionCode
	SectionData
	SectionDataCount
)

// Kinds of imports and exports.
const (
	KindFunc = iota
	KindTable
	KindMemory
	KindGlobal
)

// Value types.
const (
	I32       = 0x7f
	I64       = 0x7e
	F32       = 0x7d
	F64       = 0x7c
	V128      = 0x7b
	FuncRef   = 0x70
	ExternRef = 0x6f
)

// PageSize is the unit of a memory's size.
const PageSize = 1 << 16

// Header starts every core module of version 1.
const Header = "\x00asm\x01\x00\x00\x00"

// Limits that a module must keep to. They are several times what the largest
// real modules need: a Go program with everything in it, and QuickJS.
const (
	MaxFile        = 32 << 20
	maxTypes       = 20_000
	maxParams      = 1_000
	maxImports     = 1_000
	maxFuncs       = 50_000
	maxExports     = 10_000
	maxGlobals     = 10_000
	maxTables      = 16
	maxTableSize   = 1_000_000
	maxElements    = 10_000
	maxElementSize = 1_000_000
	maxSegments    = 200_000
	maxSections    = 1_000
	maxName        = 10_000
)

// Errors that the engine has more to say about.
var (
	// ErrNotWasm is returned for bytes that are no WebAssembly at all.
	ErrNotWasm = errors.New("not a WebAssembly module")
	// ErrComponent is returned for a component.
	ErrComponent = errors.New("a WebAssembly component, want a core module")
	// ErrTruncated is returned where the file ends too early or a length lies.
	ErrTruncated = errors.New("truncated")
)

// Module is what a module's sections say of it.
type Module struct {
	Sections []Section
	Types    []FuncType
	Imports  []Import
	// Funcs are the type indices of the functions that the module defines.
	Funcs   []uint32
	Globals []Global
	Exports []Export
	// Memory is nil where the module defines none.
	Memory *Limits
	// Code are the bodies of Funcs.
	Code  [][]byte
	Data  []Segment
	Start bool
}

// Section is one section as it lies in the file.
type Section struct {
	ID   byte
	Body []byte
	// Name is a custom section's; Body is then what follows it.
	Name string
}

// FuncType is a function's signature.
type FuncType struct{ Params, Results []byte }

func (t FuncType) String() string {
	return fmt.Sprintf("(%s) -> (%s)", typeNames(t.Params), typeNames(t.Results))
}

func typeNames(list []byte) string {
	names := map[byte]string{
		I32: "i32", I64: "i64", F32: "f32", F64: "f64", V128: "v128", FuncRef: "funcref", ExternRef: "externref",
	}
	s := ""
	for i, t := range list {
		if i > 0 {
			s += " "
		}
		s += names[t]
	}
	return s
}

// Import is one import; Type is set for functions.
type Import struct {
	Module, Name string
	Kind         byte
	Type         uint32
}

// Export is one export.
type Export struct {
	Name  string
	Kind  byte
	Index uint32
}

// Global is one global that the module defines.
type Global struct {
	Type    byte
	Mutable bool
}

// Segment is one data segment; Offset is negative where it is not a plain number,
// as in a passive segment.
type Segment struct {
	Offset int64
	Data   []byte
}

// Limits are of a memory, in pages, or a table.
type Limits struct {
	Min, Max uint32
	HasMax   bool
}

// Custom returns the first custom section of that name, and whether there is one.
func (m *Module) Custom(name string) ([]byte, bool) {
	for _, s := range m.Sections {
		if s.ID == SectionCustom && s.Name == name {
			return s.Body, true
		}
	}
	return nil, false
}

// Export returns the export of that name, or nil.
func (m *Module) Export(name string) *Export {
	for i := range m.Exports {
		if m.Exports[i].Name == name {
			return &m.Exports[i]
		}
	}
	return nil
}

// ImportedFuncs counts the functions that the module imports.
func (m *Module) ImportedFuncs() int { return m.imported(KindFunc) }

func (m *Module) imported(kind byte) int {
	n := 0
	for _, i := range m.Imports {
		if i.Kind == kind {
			n++
		}
	}
	return n
}

// FuncType returns the signature of the function with that index, imports first.
func (m *Module) FuncType(index uint32) (FuncType, bool) {
	n := uint32(0)
	for _, i := range m.Imports {
		if i.Kind != KindFunc {
			continue
		}
		if n == index {
			return m.typeAt(i.Type)
		}
		n++
	}
	if index -= n; int(index) < len(m.Funcs) {
		return m.typeAt(m.Funcs[index])
	}
	return FuncType{}, false
}

func (m *Module) typeAt(i uint32) (FuncType, bool) {
	if int(i) >= len(m.Types) {
		return FuncType{}, false
	}
	return m.Types[i], true
}

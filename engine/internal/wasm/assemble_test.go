package wasm

import (
	"math"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/wasm/binary"
	"github.com/evalengine/evalengine/scorers/wire"
)

// asm is a module put together by hand, in which only what matters to a test is
// set. Functions 0 to len(imports)-1 are imported; then come eval_abi_v1,
// _initialize, eval_describe, eval_score and extra, in that order.
type asm struct {
	imports  []string // "module.name" of a host function
	marker   string
	init     []byte // body of _initialize, without locals and end
	score    []byte // of eval_score; nil writes response
	locals   []byte // declarations of eval_score's locals
	extra    [][]byte
	response []byte
	min, max uint32 // pages
	table    bool
	global   bool // a mutable i32
	scorers  []eval.ScorerSpec
	unsigned bool // no manifest section
	more     func(sections []byte) []byte
}

// responseAt is where response lies in memory.
const responseAt = 1024

// first is the index of the first function that is not imported.
func (a asm) first() byte { return byte(len(a.imports)) }

// Instructions.
const (
	opUnreachable = 0x00
	opLoop        = 0x03
	opEnd         = 0x0b
	opBr          = 0x0c
	opCall        = 0x10
	opDrop        = 0x1a
	opGlobalGet   = 0x23
	opGlobalSet   = 0x24
	opI32Store8   = 0x3a
	opMemoryGrow  = 0x40
	opAdd         = 0x6a
	void          = 0x40
)

func i32(v int) []byte { return binary.AppendS64([]byte{0x41}, int64(int32(v))) }

func code(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			b = append(b, byte(p))
		case byte:
			b = append(b, p)
		case []byte:
			b = append(b, p...)
		}
	}
	return b
}

// forever repeats body.
func forever(body ...any) []byte {
	return code(opLoop, void, code(body...), opBr, 0, opEnd)
}

func (a asm) build() []byte {
	if a.marker == "" {
		a.marker = abiMarker
	}
	if a.scorers == nil {
		a.scorers = []eval.ScorerSpec{{Name: "x", Role: eval.RoleMeasure, Dimension: eval.DimensionPath}}
	}
	if a.response != nil && len(a.imports) == 0 {
		a.imports = []string{"eval_v1.output_write"}
	}
	if a.score == nil {
		a.score = code(i32(responseAt), i32(len(a.response)), opCall, 0, i32(0))
	}
	types := []binary.FuncType{signature("", ""), signature("", "i"), signature("i", "i")}
	var imports, funcs, table, memory, globals, elements, bodies, data []byte
	for _, name := range a.imports {
		module, field, _ := strings.Cut(name, ".")
		sig, ok := hostSignature(module, field)
		if !ok {
			sig = signature("", "")
		}
		imports = append(binary.AppendName(binary.AppendName(imports, module), field), binary.KindFunc, byte(len(types)))
		types = append(types, sig)
	}
	var typeSection []byte
	for _, t := range types {
		typeSection = append(typeSection, 0x60)
		typeSection = append(binary.AppendU32(typeSection, uint32(len(t.Params))), t.Params...)
		typeSection = append(binary.AppendU32(typeSection, uint32(len(t.Results))), t.Results...)
	}
	list := [][]byte{{}, a.init, code(i32(1)), a.score}
	funcs = []byte{0, 0, 1, 1}
	for _, f := range a.extra {
		list, funcs = append(list, f), append(funcs, 2)
	}
	for i, f := range list {
		locals := []byte{0}
		if i == 3 && a.locals != nil {
			locals = a.locals
		}
		f = code(locals, f, opEnd)
		bodies = append(binary.AppendU32(bodies, uint32(len(f))), f...)
	}
	exports := []binary.Export{
		{Name: exportMemory, Kind: binary.KindMemory},
		{Name: a.marker, Index: uint32(a.first())},
		{Name: exportInit, Index: uint32(a.first() + 1)},
		{Name: exportInfo, Index: uint32(a.first() + 2)},
		{Name: exportScore, Index: uint32(a.first() + 3)},
	}
	memory = []byte{1, 0}
	if a.max > 0 {
		memory[1] = 1
	}
	memory = binary.AppendU32(memory, max(a.min, 1))
	if a.max > 0 {
		memory = binary.AppendU32(memory, a.max)
	}
	if a.table {
		table = []byte{1, binary.FuncRef, 0, 1}
	}
	if a.global {
		globals = code(1, binary.I32, 1, i32(0), opEnd)
	}
	if a.response != nil {
		data = code(1, 0, i32(responseAt), opEnd, binary.AppendU32(nil, uint32(len(a.response))), a.response)
	}
	out := []byte(binary.Header)
	for id, body := range [][]byte{
		nil, binary.SectionType: vector(len(types), typeSection), binary.SectionImport: vector(len(a.imports), imports),
		binary.SectionFunction: vector(len(list), funcs), binary.SectionTable: table, binary.SectionMemory: memory,
		binary.SectionGlobal: globals, binary.SectionExport: binary.AppendExports(nil, exports),
		binary.SectionElement: elements, binary.SectionCode: vector(len(list), bodies), binary.SectionData: data,
	} {
		if len(body) > 1 {
			out = binary.AppendSection(out, byte(id), body)
		}
	}
	if !a.unsigned {
		m := &eval.Manifest{Module: "hostile", Version: "1", Scorers: a.scorers}
		out = binary.AppendCustom(out, sectionName, wire.AppendManifest(nil, m))
	}
	if a.more != nil {
		out = a.more(out)
	}
	return out
}

func vector(n int, body []byte) []byte { return append(binary.AppendU32(nil, uint32(n)), body...) }

// says is a module that answers with the outputs.
func says(outputs ...eval.ScoreOutput) asm {
	return asm{response: wire.AppendResponse(nil, outputs)}
}

// scored is an output without fault, for scorer x.
func scored(change func(*eval.ScoreOutput)) eval.ScoreOutput {
	o := eval.ScoreOutput{Name: "x", State: eval.Scored, Value: 0.5, Reason: "a"}
	if change != nil {
		change(&o)
	}
	return o
}

var nan = math.NaN()

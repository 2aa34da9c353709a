package wasm

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/evalengine/evalengine/engine/internal/wasm/binary"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// machine compiles and runs modules; it is what a worker is made of. It is not
// safe for concurrent use.
type machine struct {
	rt wazero.Runtime
	s  *session
}

func newMachine(ctx context.Context, cfg wazero.RuntimeConfig) (*machine, error) {
	cfg = cfg.WithCoreFeatures(api.CoreFeaturesV2).WithDebugInfoEnabled(false).WithCloseOnContextDone(false)
	m := &machine{rt: wazero.NewRuntimeWithConfig(ctx, cfg), s: &session{}}
	if err := m.s.link(ctx, m.rt); err != nil {
		return nil, err
	}
	return m, nil
}

// program is one module, ready to make instances of.
//
// Every call must find the instance as if it were new. To make a new one and run
// its initialisation costs a Go module 6 ms, of which the call itself is 0.02; so
// the first instance's state after initialisation is kept as an image, and an
// instance that answered a call is put back to it: every byte of memory and every
// mutable global. Where that would not be all of the state (a module that changes
// tables, memory that has grown) the instance is closed and the next one is new.
// An instance that trapped is always closed.
type program struct {
	compiled wazero.CompiledModule
	source   *binary.Module
	limits   limits
	// traits and fill say what may be done without the module's own help.
	traits binary.Traits
	fill   bool
	// first is the state after initialisation; nil until an instance was made,
	// and always nil where the module's state cannot be put back.
	first *state
	// idle is an instance in the first state, or nil.
	idle *instance
}

// state is everything that a call can see of what came before it.
type state struct {
	memory        *image
	globals       []uint64
	clock, random uint64
	log           []byte
}

type instance struct {
	mod     api.Module
	memory  *linear
	globals []api.MutableGlobal
	score   api.Function
}

// load checks and compiles a module; the error is the module's fault.
func (m *machine) load(ctx context.Context, module []byte, l limits) (*program, error) {
	source, err := binary.Parse(module)
	if err != nil {
		return nil, err
	}
	if err := checkABI(source); err != nil {
		return nil, err
	}
	traits, err := source.CheckCode()
	if err != nil {
		return nil, err
	}
	if need := int64(source.Memory.Min) * binary.PageSize; need > l.memory {
		return nil, fmt.Errorf("it needs %d bytes of memory, %d are granted", need, l.memory)
	}
	p := &program{source: source, limits: l, traits: traits}
	p.fill = traits.PlainData && source.InitialMemory()
	if p.compiled, err = m.rt.CompileModule(ctx, source.Clean(p.fill)); err != nil {
		return nil, err
	}
	return p, nil
}

// start makes a new instance in the program's first state.
func (m *machine) start(ctx context.Context, p *program) (*instance, error) {
	i := &instance{}
	var im *image
	if p.first != nil {
		im = p.first.memory
	}
	mod, err := m.rt.InstantiateModule(withMemory(ctx, p.limits.memory, im, &i.memory), p.compiled,
		wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, err
	}
	i.mod = mod
	if mod.Memory() == nil {
		i.close(ctx)
		return nil, errors.New("it has no memory")
	}
	for _, g := range p.source.MutableGlobals() {
		i.globals = append(i.globals, mod.ExportedGlobal(binary.GlobalName(g)).(api.MutableGlobal))
	}
	if p.first != nil {
		missing := p.first.memory.size/binary.PageSize - int(mod.Memory().Size()/binary.PageSize)
		if _, ok := mod.Memory().Grow(uint32(missing)); !ok {
			i.close(ctx)
			return nil, errors.New("there is no memory for another instance")
		}
		i.setGlobals(p.first)
		return i, nil
	}
	if err := m.initialise(ctx, p, i); err != nil {
		i.close(ctx)
		return nil, err
	}
	return i, nil
}

// initialise brings the first instance into the first state and keeps that.
func (m *machine) initialise(ctx context.Context, p *program, i *instance) error {
	if p.fill {
		memory, _ := i.mod.Memory().Read(0, i.mod.Memory().Size())
		p.source.Fill(memory)
	}
	if f := i.mod.ExportedFunction(exportInit); f != nil {
		if _, err := f.Call(ctx); err != nil {
			return fmt.Errorf("%s: %w", exportInit, plain(err))
		}
	}
	if !p.traits.Restorable || !p.fill {
		return nil
	}
	first := &state{clock: m.s.clock, random: m.s.random, log: m.s.log}
	for n, g := range i.globals {
		if t := p.source.Globals[p.source.MutableGlobals()[n]].Type; t != binary.I32 && t != binary.I64 &&
			t != binary.F32 && t != binary.F64 {
			return nil // Its value cannot be read.
		}
		first.globals = append(first.globals, g.Get())
	}
	var err error
	if first.memory, err = takeImage(i.memory); err != nil {
		return nil // Every call makes a new instance, as it may.
	}
	p.first = first
	p.source.Sections, p.source.Code, p.source.Data = nil, nil, nil // All that is large, and used up.
	return nil
}

func (i *instance) setGlobals(s *state) {
	for n, g := range i.globals {
		g.Set(s.globals[n])
	}
}

func (i *instance) close(ctx context.Context) { _ = i.mod.Close(ctx) }

// call runs an exported function on an instance in the first state. The output,
// log and so on are in the machine's session afterwards.
func (m *machine) call(ctx context.Context, p *program, name string, input []byte) (code uint32, err error) {
	m.s.begin(p, input)
	i := p.idle
	p.idle = nil
	if i == nil {
		if i, err = m.start(ctx, p); err != nil {
			return 0, err
		}
	}
	m.s.calls = 0
	f := i.score
	if name != exportScore || f == nil {
		f = i.mod.ExportedFunction(name)
	}
	var stack [1]uint64
	if err = f.CallWithStack(ctx, stack[:]); err != nil {
		i.close(ctx)
		return 0, plain(err)
	}
	if name == exportScore {
		i.score = f
	}
	m.keep(ctx, p, i)
	return uint32(stack[0]), nil
}

// keep puts the instance back to the first state, or closes it.
func (m *machine) keep(ctx context.Context, p *program, i *instance) {
	if p.first == nil || int(i.mod.Memory().Size()) != p.first.memory.size ||
		p.first.memory.restore(i.memory) != nil {
		i.close(ctx)
		return
	}
	i.setGlobals(p.first)
	p.idle = i
}

// begin clears what the last call left.
func (s *session) begin(p *program, input []byte) {
	s.limits, s.input, s.response = p.limits, input, nil
	s.output, s.log, s.written = s.output[:0], nil, 0
	s.clock, s.random = 0, 0
	if p.first != nil {
		s.clock, s.random = p.first.clock, p.first.random
		s.log = append(s.log, p.first.log...)
		s.written = int64(len(s.log))
	}
}

// plain says what went wrong in a guest without wazero's list of frames.
func plain(err error) error {
	for _, known := range []error{errOutput, errBounds, errLog} {
		if errors.Is(err, known) {
			return known
		}
	}
	var exit exitError
	if errors.As(err, &exit) {
		return exit
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	line = strings.TrimSuffix(line, " (recovered by wazero)")
	return errors.New(strings.TrimPrefix(line, "wasm error: "))
}

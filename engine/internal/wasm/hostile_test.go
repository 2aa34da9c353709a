package wasm

import (
	"bytes"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/wasm/binary"
)

// fib is a function of one parameter that calls itself twice and has no loop.
func fib(self byte) []byte {
	return code(0x20, 0, i32(2), 0x48, 0x04, binary.I32, 0x20, 0, 0x05, // if n < 2 then n else
		0x20, 0, i32(1), 0x6b, opCall, self, 0x20, 0, i32(2), 0x6b, opCall, self, opAdd, opEnd)
}

// TestHostile gives modules that do harm to a runtime, which must say what is
// wrong with each and go on to score others.
func TestHostile(t *testing.T) {
	assertX := []eval.ScorerSpec{{Name: "x", Role: eval.RoleAssert, Dimension: eval.DimensionOutcome}}
	const timeout = "ran longer than 500ms"
	write := []string{"eval_v1.output_write"}
	for _, test := range []struct {
		name   string
		module asm
		want   string
	}{
		{"loop in initialize", asm{init: forever(), score: i32(0)}, timeout},
		{"loop in score", asm{score: code(forever(), i32(0))}, timeout},
		{"recursion without a loop", asm{score: code(i32(90), opCall, 4, opDrop, i32(0)), extra: [][]byte{fib(4)}}, timeout},
		{"endless recursion", asm{score: code(i32(1), opCall, 4), extra: [][]byte{code(0x20, 0, opCall, 4)}}, "stack overflow"},
		{"loop in host calls", asm{imports: []string{"wasi_snapshot_preview1.sched_yield"},
			score: code(forever(opCall, 0, opDrop), i32(0))}, timeout},
		{"loop of random numbers", asm{imports: []string{"wasi_snapshot_preview1.random_get"}, min: 256,
			score: code(forever(i32(0), i32(256<<16), opCall, 0, opDrop), i32(0))}, timeout},
		{"loop of denied calls", asm{imports: []string{"eval_v1.call"},
			score: code(forever(i32(0), i32(1), i32(0), i32(1), opCall, 0, opDrop), i32(0))}, timeout},
		{"memory bomb", asm{score: code(forever(i32(1), opMemoryGrow, 0, opDrop), i32(0))}, timeout},
		{"memory fill", asm{min: 256, score: code(forever(i32(0), i32(7), i32(256<<16), 0xfc, 11, 0), i32(0))}, timeout},
		{"table bomb", asm{table: true, score: code(forever(0xd0, binary.FuncRef, i32(1<<16), 0xfc, 15, 0, opDrop), i32(0))}, "table.grow is not supported"},
		{"trap", asm{score: code(opUnreachable, i32(0))}, "unreachable"},
		{"trap in initialize", asm{init: code(opUnreachable), score: i32(0)}, "_initialize: unreachable"},
		{"output flood", asm{imports: write, score: code(forever(i32(0), i32(1<<16), opCall, 0), i32(0))}, "more output than its limit"},
		{"log flood", asm{imports: []string{"eval_v1.log"},
			score: code(forever(i32(0), i32(0), i32(1<<16), opCall, 0), i32(0))}, "more to its log"},
		{"pointer outside", asm{imports: write, score: code(i32(-16), i32(100), opCall, 0, i32(0))}, "outside its memory"},
		{"length outside", asm{imports: write, score: code(i32(0), i32(-1), opCall, 0, i32(0))}, "outside its memory"},
		{"exit", asm{imports: []string{"wasi_snapshot_preview1.proc_exit"},
			score: code(i32(3), opCall, 0, i32(0))}, "exited with code 3"},
		{"says that it failed", asm{score: i32(1)}, "the scorer failed"},
		{"garbage", asm{response: []byte("\xff\xff\xff")}, "malformed"},
		{"nothing", asm{score: i32(0)}, `no result for "x"`},
		{"surplus", says(scored(nil), scored(nil)), "1 results too many"},
		{"another's name", says(scored(func(o *eval.ScoreOutput) { o.Name = "y" })), `no result for "x"`},
		{"NaN", says(scored(func(o *eval.ScoreOutput) { o.Value = nan })), "value NaN is not in 0..1"},
		{"out of range", says(scored(func(o *eval.ScoreOutput) { o.Value = 1.5 })), "value 1.5 is not in 0..1"},
		{"raw NaN", says(scored(func(o *eval.ScoreOutput) { o.Raw = &nan })), "raw value NaN is not finite"},
		{"unknown state", says(scored(func(o *eval.ScoreOutput) { o.State = "great" })), `unknown state "great"`},
		{"unknown severity", says(scored(func(o *eval.ScoreOutput) {
			o.Findings = []eval.Finding{{Severity: "huge"}}
		})), `unknown severity "huge"`},
		{"flood of evidence", says(scored(func(o *eval.ScoreOutput) { o.Evidence = make([]eval.Evidence, 1001) })), "1001 findings or pieces"},
		{"measure that passes", says(scored(func(o *eval.ScoreOutput) { o.Passed = new(bool) })), "as only an assert's does"},
		{"assert that does not say", asm{response: says(scored(nil)).response, scorers: assertX}, "neither passed nor failed"},
		{"manifest of other code", asm{response: says(scored(func(o *eval.ScoreOutput) { o.Name = "z" })).response,
			scorers: assertX}, `no result for "x"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			rt := newRuntime(t, Options{Workers: 1})
			g := seconds(60)
			if test.want == timeout {
				g = seconds(0.5)
			}
			g.MemoryBytes = 32 << 20
			bad := load(t, rt, test.module.build(), g)
			good := load(t, rt, says(scored(nil)).build(), eval.Grants{})
			got := scoreX(t, bad)
			if got.State != eval.ScoreErrored || !strings.Contains(got.Reason, test.want) {
				t.Errorf("got %s %q; want errored with %q", got.State, got.Reason, test.want)
			}
			if got.Name != "x" {
				t.Errorf("name %q; want x", got.Name)
			}
			if got := scoreX(t, good); got.State != eval.Scored || got.Value != 0.5 {
				t.Errorf("another module after it: got %+v; want scored 0.5", got)
			}
		})
	}
}

func scoreX(t *testing.T, m *Module) eval.ScoreOutput {
	t.Helper()
	out, err := m.Score(t.Context(), &eval.ScoreInput{Uses: uses("x")})
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

// claims is a section that claims four billion entries.
func claims(id byte) []byte {
	return binary.AppendSection([]byte(binary.Header), id, []byte{0xff, 0xff, 0xff, 0xff, 0x0f})
}

func TestLoadRefuses(t *testing.T) {
	plain := says(scored(nil))
	replace := func(old, new string) []byte {
		b := plain.build()
		return bytes.Replace(b, []byte(old), []byte(new), 1)
	}
	for _, test := range []struct {
		name   string
		module []byte
		want   string
	}{
		{"empty", nil, "not a WebAssembly module"},
		{"garbage", []byte("#!/bin/sh\nrm -rf /"), "not a WebAssembly module"},
		{"component", []byte("\x00asm\x0d\x00\x01\x00"), "want a core module"},
		{"truncated", plain.build()[:60], "truncated"},
		{"too large", make([]byte, binary.MaxFile+1), "at most 33554432 are allowed"},
		{"unknown import", asm{imports: []string{"env.system"}, score: i32(0)}.build(), "it imports env.system, which scorers do not get"},
		{"import of the engine's that is not there", asm{imports: []string{"eval_v1.tick"}, score: i32(0)}.build(), "it imports eval_v1.tick"},
		{"wrong ABI", asm{marker: "eval_abi_v2", score: i32(0)}.build(), "it has scorer ABI 2, this engine supports 1"},
		{"no ABI", asm{marker: "main", score: i32(0)}.build(), "it does not export eval_abi_v1: not a scorer module"},
		{"no score", replace("eval_score", "eval_scare"), "it exports no function eval_score"},
		{"no memory", replace("memory", "mammal"), `it exports no memory of its own`},
		{"the engine's names", replace("eval_describe", "eval.engine.x"), "the name is the engine's"},
		{"no manifest", asm{unsigned: true, score: i32(0)}.build(), "eval_describe"},
		{"empty manifest", asm{scorers: []eval.ScorerSpec{}, score: i32(0)}.build(), "no scorers"},
		{"manifest with an unknown role", asm{scorers: []eval.ScorerSpec{{Name: "x", Role: "king"}}, score: i32(0)}.build(), `unknown role "king"`},
		{"manifest with a path gate", asm{scorers: []eval.ScorerSpec{
			{Name: "x", Role: eval.RoleAssert, Dimension: eval.DimensionPath}}, score: i32(0)}.build(), "path and quality never fail a trial"},
		{"manifest with an unknown need", asm{scorers: []eval.ScorerSpec{
			{Name: "x", Role: eval.RoleMeasure, Dimension: eval.DimensionPath, Needs: []eval.Part{"soul"}}}, score: i32(0)}.build(), `it needs "soul"`},
		{"four billion types", claims(binary.SectionType), "claimed in"},
		{"four billion imports", claims(binary.SectionImport), "claimed in"},
		{"four billion functions", claims(binary.SectionFunction), "claimed in"},
		{"four billion globals", claims(binary.SectionGlobal), "claimed in"},
		{"four billion exports", claims(binary.SectionExport), "claimed in"},
		{"four billion elements", claims(binary.SectionElement), "claimed in"},
		{"four billion bodies", claims(binary.SectionCode), "claimed in"},
		{"four billion segments", claims(binary.SectionData), "claimed in"},
	} {
		t.Run(test.name, func(t *testing.T) {
			rt := newRuntime(t, Options{})
			_, err := rt.Load(t.Context(), "it", test.module, "", eval.Grants{})
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), `scorer module "it"`) {
				t.Errorf("got %v; want %q of scorer module \"it\"", err, test.want)
			}
		})
	}
}

// TestCompileBombs has modules that Load, which does not look into functions, lets
// through.
func TestCompileBombs(t *testing.T) {
	var nested, ends []byte
	for range 400 {
		nested = append(nested, opLoop, void)
		ends = append(ends, opEnd)
	}
	many := code(1, binary.AppendU32(nil, 999), binary.I32)
	var branches []byte
	for range 10_000 {
		branches = append(branches, 0)
	}
	for _, test := range []struct {
		name   string
		module asm
		want   string
	}{
		{"loops with locals", asm{locals: many, score: code(nested, ends, i32(0))}, "too much to compile"},
		{"four billion locals", asm{locals: code(1, binary.AppendU32(nil, 4_000_000_000), binary.I32), score: i32(0)}, "more than 1000 locals"},
		{"long br_table", asm{score: code(0x02, void, i32(0), 0x0e, vector(10_000, branches), 0, opEnd, i32(0))}, "br_table targets"},
		{"deep blocks", asm{score: code(bytes.Repeat([]byte{0x02, void}, 5000), bytes.Repeat([]byte{opEnd}, 5000), i32(0))}, "nested deeper"},
		{"long body", asm{score: code(bytes.Repeat([]byte{0x01}, 300<<10), i32(0))}, "body of"},
		{"not valid", asm{score: code(opAdd)}, "loading: "},
		{"too much memory", asm{min: 65536, score: i32(0)}, "it needs 4294967296 bytes of memory"},
	} {
		t.Run(test.name, func(t *testing.T) {
			rt := newRuntime(t, Options{})
			got := scoreX(t, load(t, rt, test.module.build(), eval.Grants{}))
			if got.State != eval.ScoreErrored || !strings.Contains(got.Reason, test.want) {
				t.Errorf("got %s %q; want errored with %q", got.State, got.Reason, test.want)
			}
		})
	}
}

func TestSlowCompilationIsKilled(t *testing.T) {
	rt := newRuntime(t, Options{CacheDir: t.TempDir(), Workers: 1})
	rt.compileTimeout = 1
	b, err := plainModule()
	if err != nil {
		t.Fatal(err)
	}
	if b, err = AddManifest(b, &eval.Manifest{Module: "plain", Version: "1", Scorers: says().scorersOf("count")}); err != nil {
		t.Fatal(err)
	}
	m := load(t, rt, b, eval.Grants{})
	for range 2 { // The second time without trying again.
		out, err := m.Score(t.Context(), &eval.ScoreInput{Uses: uses("count")})
		if err != nil || out[0].State != eval.ScoreErrored || out[0].Reason != "loading: ran longer than 1ns" {
			t.Errorf("got %+v, %v; want errored: loading: ran longer than 1ns", out, err)
		}
	}
	if got := scoreX(t, load(t, rt, says(scored(nil)).build(), eval.Grants{})); got.State != eval.ScoreErrored {
		t.Errorf("with no time at all got %+v; want errored", got)
	}
	rt.compileTimeout = compileTimeout
	if got := scoreX(t, load(t, rt, says(scored(nil)).build(), eval.Grants{})); got.State != eval.Scored {
		t.Errorf("got %+v; want scored", got)
	}
}

func (asm) scorersOf(names ...string) []eval.ScorerSpec {
	var list []eval.ScorerSpec
	for _, n := range names {
		list = append(list, eval.ScorerSpec{Name: n, Role: eval.RoleMeasure, Dimension: eval.DimensionPath})
	}
	return list
}

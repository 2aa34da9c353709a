package ledger

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

// put writes a file of a folder, as a hand, a crash or another version may have
// left it.
func put(t *testing.T, dir, name string, b []byte) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A record that can be read is read the same after it was written again.
func FuzzReadRecord(f *testing.F) {
	f.Add([]byte(`{"schema":1,"run":"r","id":"a.base.h.r1","story":"a","host":"h","repeat":1,"status":"passed","attempts":[]}`))
	f.Add([]byte(`{"scores":[{"name":"x","state":"scored","value":0.5}],"usage":{"cost_usd":0.1},"files":{"host/stdout":"00"}}`))
	f.Add([]byte(`{"files":{"../../../etc/passwd":"00"}}`))
	f.Add([]byte(`{"status":"\ud800","attempts":[{"n":-1}]}`))
	f.Add([]byte("null"))
	f.Add([]byte(`{"id":1e999}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		put(t, dir, "trial.json", b)
		rec, err := ReadRecord(dir)
		if err != nil {
			return
		}
		Verify(dir, rec)
		again, err := json.Marshal(rec)
		if err != nil {
			t.Fatalf("%q is read but not written: %v", b, err)
		}
		put(t, dir, "trial.json", again)
		if once, err := ReadRecord(dir); err != nil {
			t.Errorf("%s: %v", again, err)
		} else if twice, _ := json.Marshal(once); string(twice) != string(again) {
			t.Errorf("written again it is\n%s\nwant\n%s", twice, again)
		}
	})
}

// Whatever is in a trial's other files, readers end, with an error or a value.
func FuzzReadTrial(f *testing.F) {
	f.Add([]byte(`{"turn":1,"kind":"message","role":"user","text":"hi","at_ms":0}`+"\n"+`{"turn":1,"kind":"tool_call","arguments":{"a":1}}`), false)
	f.Add([]byte(`{"turn":1}{"turn":2}`), false)
	f.Add([]byte(`{"before":{"a":[1]},"after":null}`), false)
	f.Add([]byte(`[{"name":"t","input_schema":{}}]`), false)
	f.Add(compress([]byte(`{"turn":1}`)), true)
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, true)
	f.Fuzz(func(t *testing.T, b []byte, compressed bool) {
		dir, end := t.TempDir(), ""
		if compressed {
			end = ".zst"
		}
		for _, name := range []string{"transcript.jsonl", "state.json", "tools.json"} {
			put(t, dir, name+end, b)
		}
		steps, err := ReadSteps(dir)
		if err == nil {
			lines, err := encodeLines(steps)
			if err != nil {
				t.Fatalf("%q is read but not written: %v", b, err)
			}
			put(t, dir, "transcript.jsonl", lines)
			if again, err := ReadSteps(dir); err != nil || len(again) != len(steps) {
				t.Errorf("written again it has %d steps, %v; want %d", len(again), err, len(steps))
			}
		}
		ReadState(dir)
		ReadTools(dir)
	})
}

// Evidence that is not as it was written is no evidence, and reaches no file
// outside its draft.
func FuzzSettled(f *testing.F) {
	f.Add([]byte(`{"files":{},"evidence":{"outcome":"completed"}}`))
	f.Add([]byte(`{"files":{"a":"00"},"evidence":{}}`))
	f.Add([]byte(`{"files":{"a":"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"},"evidence":1}`))
	f.Add([]byte(`{"files":null}`))
	f.Add([]byte(`{"files":{"../x/a":"00"}`))
	trial := eval.Trial{Story: "a", Host: "h", Repeat: 1}
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		r := &Run{dir: dir, Info: eval.Run{Trials: []eval.Trial{trial}}}
		put(t, dir, filepath.Join(draftsDir, trial.ID()+".1", evidenceFile), b)
		put(t, dir, filepath.Join(draftsDir, trial.ID()+".1", "a"), []byte("a"))
		d, evidence, ok := r.Settled(trial.ID())
		if !ok {
			return
		}
		var s settled
		if err := json.Unmarshal(b, &s); err != nil || !reflect.DeepEqual([]byte(s.Evidence), evidence) {
			t.Errorf("evidence of %q = %q, %v", b, evidence, err)
		}
		if err := Verify(d.Dir(), &eval.Record{Files: s.Files}); err != nil {
			t.Error(err)
		}
	})
}

// A run.json or summary.json of any content is an error or a run.
func FuzzOpenRun(f *testing.F) {
	f.Add([]byte(`{"schema":1,"id":"20261130T151735Z-000001","suite":"s","trials":[{"story":"a","host":"h","repeat":1}],"timeout":1}`))
	f.Add([]byte(`{"trials":[{"story":"../..","host":"/","repeat":-1}]}`))
	f.Add([]byte(`{"completion":"complete","arms":[{"gates":null}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		put(t, dir, "run.json", b)
		put(t, dir, "summary.json", b)
		put(t, dir, "trials/a.base.h.r1/trial.json", b)
		r, err := openDir(dir)
		if err != nil {
			return
		}
		r.Summary()
		if rest, err := r.Unfinished(); err != nil || len(rest) > len(r.Info.Trials) {
			t.Errorf("Unfinished = %d of %d trials, %v", len(rest), len(r.Info.Trials), err)
		}
		for range r.Records() {
		}
	})
}

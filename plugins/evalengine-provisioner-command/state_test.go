package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ in, format, want, err string }{
		{` {"a":1} `, formatJSON, `{"a":1}`, ""},
		{`12345678901234567890`, formatJSON, `12345678901234567890`, ""},
		{"", formatJSON, "", "it is empty"},
		{"hello", formatJSON, "", `not JSON: "hello"; set snapshot_format`},
		{`{"a":1}{"a":2}`, formatJSON, "", "not JSON"},
		{"{\"a\":1}\n\n[2]\r\n", formatJSONL, `[{"a":1},[2]]`, ""},
		{"", formatJSONL, `[]`, ""},
		{"{\"a\":1}\nx\n", formatJSONL, "", `line 2 of the output is not JSON: "x"`},
		{"<a>\n", formatText, `{"text":"<a>\n"}`, ""},
		{"\xff", formatText, "{\"text\":\"\uFFFD\"}", ""},
		{strings.Repeat("x", 300), formatJSON, "", strings.Repeat("x", 200) + `"...`},
	} {
		got, err := parse([]byte(tt.in), tt.format)
		if string(got) != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("parse(%q, %s) = %s, %v; want %s, %q", tt.in, tt.format, got, err, tt.want, tt.err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("{\"a\":1}\n2", formatJSONL)
	f.Add("[1", formatJSON)
	f.Add("\xff\x00", formatText)
	f.Fuzz(func(t *testing.T, in, format string) {
		out, err := parse([]byte(in), format)
		if err == nil && !json.Valid(out) {
			t.Fatalf("parse(%q, %s) = %q: not JSON", in, format, out)
		}
	})
}

func TestSnapshot(t *testing.T) {
	c := newTestCommand()
	for _, tt := range []struct {
		name string
		more map[string]any
		want string
	}{
		{"by default", nil, `{"dirs":["d"],"files":{"a.txt":"A","d/b.json":"{\"b\":1}"}}`},
		{"globs", map[string]any{"snapshot_files": []string{"**", "!*.txt"}}, `{"dirs":["d"],"files":{"d/b.json":"{\"b\":1}"}}`},
		{"a folder left out", map[string]any{"snapshot_files": []string{"!d"}}, `{"dirs":[],"files":{"a.txt":"A"}}`},
		{"one file", map[string]any{"snapshot_files": []string{"d/*.json"}}, `{"dirs":[],"files":{"d/b.json":"{\"b\":1}"}}`},
		{"none", map[string]any{"snapshot_files": []string{"x"}}, `{"dirs":[],"files":{}}`},
		{"command", map[string]any{"snapshot": []string{"cat", "{workdir}/d/b.json"}}, `{"b":1}`},
		{"lines", map[string]any{"snapshot": []string{"cat", "d/b.json"}, "snapshot_format": "jsonl"}, `[{"b":1}]`},
		{"text", map[string]any{"snapshot": []string{"cat", "a.txt"}, "snapshot_format": "text"}, `{"text":"A"}`},
		{"several", map[string]any{"snapshot": []string{"cat", "d/b.json"}, "snapshot_files": []string{"a.*"}},
			`{"command":{"b":1},"dirs":[],"files":{"a.txt":"A"}}`},
		{"stderr is no state", map[string]any{"snapshot": []string{"sh", "-c", "echo noise >&2; echo 1"}}, `1`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := map[string]any{"name": "t", "command": []string{"true"}, "files": map[string]string{"a.txt": "A", "d/b.json": `{"b":1}`}}
			for k, v := range tt.more {
				cfg[k] = v
			}
			target := provision(t, c, request(t, cfg))
			if got := state(t, c, target.ID); got != tt.want {
				t.Errorf("state = %s; want %s", got, tt.want)
			}
		})
	}
}

func TestSnapshotOfURLAndFiles(t *testing.T) {
	c := newTestCommand()
	target := provision(t, c, request(t, httpConfig(t, map[string]string{"TOKEN": "{token}"}, map[string]any{
		"headers": map[string]string{"Authorization": "Bearer {token}"}, "snapshot_url": "http://127.0.0.1:{port}/state",
		"snapshot_files": []string{"*"},
	})))
	if got, want := state(t, c, target.ID), `{"dirs":[],"files":{},"url":{"text":"nothing"}}`; got != want {
		t.Errorf("state = %s; want %s", got, want)
	}
}

func TestSnapshotFails(t *testing.T) {
	c := newTestCommand()
	for _, tt := range []struct {
		name string
		more map[string]any
		want string
	}{
		{"status", map[string]any{"snapshot": []string{"sh", "-c", "echo $PASSWORD >&2; exit 3"}}, "exit status 3; it said: [secret]"},
		{"no JSON", map[string]any{"snapshot": []string{"echo", "hi"}}, `the output is not JSON: "hi"`},
		{"too much", map[string]any{"snapshot": []string{"cat", "/dev/zero"}, "snapshot_max_bytes": 1000}, "more than 1000 bytes"},
		{"too long", map[string]any{"snapshot": []string{"sleep", "1000"}, "snapshot_timeout": "200ms"}, "not done after 200ms"},
		{"no such page", map[string]any{"snapshot_url": "http://127.0.0.1:{port}/nothing"}, "404 Not Found"},
		{"no JSON page", map[string]any{"snapshot_url": "http://127.0.0.1:{port}/ready"}, "the answer is not JSON"},
		{"a large page", map[string]any{"snapshot_url": "http://127.0.0.1:{port}/state", "snapshot_max_bytes": 5}, "more than 5 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := httpConfig(t, map[string]string{"PASSWORD": "my-password"}, map[string]any{"secrets": []string{"PASSWORD"}})
			for k, v := range tt.more {
				cfg[k] = v
			}
			target := provision(t, c, request(t, cfg))
			_, err := c.Snapshot(t.Context(), target.ID)
			f := eval.AsFault(err)
			if f == nil || f.Cause != eval.CauseObserve || !strings.Contains(f.Detail, tt.want) || strings.Contains(f.Detail, "my-password") {
				t.Errorf("fault = %+v; want observe with %q", f, tt.want)
			}
		})
	}
}

// A state that cannot be read because the server has died says so.
func TestSnapshotOfTheDead(t *testing.T) {
	c := newTestCommand()
	file := filepath.Join(t.TempDir(), "pids")
	target := provision(t, c, request(t, httpConfig(t, map[string]string{"PIDS": file}, map[string]any{"snapshot_url": "http://127.0.0.1:{port}/state"})))
	for _, pid := range pids(t, file) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
	<-c.find(target.ID).served["target"].done
	_, err := c.Snapshot(t.Context(), target.ID)
	if f := eval.AsFault(err); f == nil || !strings.Contains(f.Detail, `the process of server "target" has ended: signal: killed; it said: listening`) {
		t.Errorf("fault = %+v; want one that tells of the process", f)
	}
}

func TestReadFiles(t *testing.T) {
	dir := t.TempDir()
	put := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("text", "é\n")
	put("binary", "\xff\x00")
	put("nul", "a\x00")
	put("empty", "")
	put("large", strings.Repeat("x", maxFile+1))
	for link, to := range map[string]string{"secret": "/etc/passwd", "up": "../..", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readFiles(t.Context(), dir, []string{"**"}, 2*maxFile)
	if err != nil {
		t.Fatal(err)
	}
	b, err := encode(got.files)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"binary":{"base64":"/wA="},"empty":"",` +
		`"large":{"sha256":"154b8ed3c2383ce429058768595935faf7851b5c38db2b1732594be1d88bc05a","size":1048577},` +
		`"loop":{"link":"loop"},"nul":{"base64":"YQA="},"pipe":{"error":"not a regular file: p---------"},` +
		`"secret":{"link":"/etc/passwd"},"text":"é\n","up":{"link":"../.."}}`
	if string(b) != want {
		t.Errorf("files = %s; want %s", b, want)
	}
}

// What does not fit any more is told by digest, in the order of the paths.
func TestReadFilesBeyondTheBound(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("12345"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readFiles(t.Context(), dir, []string{"**"}, 9)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := encode(got.files)
	const sum = `{"sha256":"5994471abb01112afcc18159f6cc74b4f511b99806da59b3caf5a9c173cacfc5","size":5}`
	if want := `{"a":"12345","b":` + sum + `,"c":` + sum + `}`; string(b) != want {
		t.Errorf("files = %s; want %s", b, want)
	}
}

func FuzzGlobs(f *testing.F) {
	f.Add("**", "a/b")
	f.Add("!a[", "a")
	f.Fuzz(func(t *testing.T, glob, path string) {
		if checkGlobs([]string{glob}) != nil {
			return
		}
		p := newPicker([]string{glob})
		p.takes(path)
		p.skips(path)
	})
}

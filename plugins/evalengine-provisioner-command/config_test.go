package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/provisioner"
)

// Every type is one that HCL reads, and every attribute one that the config reads.
func TestSchema(t *testing.T) {
	all := map[string]any{}
	for _, a := range schema().Attributes {
		expr, diags := hclsyntax.ParseExpression([]byte(a.Type), a.Name, hcl.InitialPos)
		if diags.HasErrors() {
			t.Errorf("%s: %v", a.Name, diags)
			continue
		}
		if _, _, diags := typeexpr.TypeConstraintWithDefaults(expr); diags.HasErrors() {
			t.Errorf("%s: %v", a.Name, diags)
		}
		if a.Doc == "" {
			t.Errorf("%s has no doc", a.Name)
		}
		all[a.Name] = nil
		if len(a.Default) > 0 {
			all[a.Name] = json.RawMessage(a.Default)
		}
	}
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	var c config
	if err := provisioner.Config(eval.ProvisionRequest{Config: b}, &c); err != nil {
		t.Error(err)
	}
	if c.Name != "target" || c.SnapshotMaxBytes != 32<<20 || c.ReadyTimeout != "60s" {
		t.Errorf("defaults = %+v", c)
	}
}

// The attributes of one server among several are those of a single one.
func TestServersHaveTheSameAttributes(t *testing.T) {
	for name := range strings.SplitSeq("command url serve env headers ready_url ready_body ready_nonce_header ready_timeout probe", " ") {
		a, ok := schema().Attribute(name)
		if !ok || !strings.Contains(strings.Join(strings.Fields(partType), " "), " "+name+" = optional("+a.Type+")") {
			t.Errorf("%s of a single server has the type %q; servers differ", name, a.Type)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	for _, tt := range []struct{ config, want string }{
		{`{}`, "one of command, url and servers is needed"},
		{`{"serve":["a"],"ready_url":"http://x"}`, "one of command, url and servers is needed"},
		{`{"command":["a"],"servers":{"b":{"url":"http://x"}}}`, "a single server"},
		{`{"name":"t","command":["a"],"url":"http://x"}`, "exclude each other"},
		{`{"name":"1x","command":["a"]}`, "name is a letter"},
		{`{"name":"t","command":[""]}`, "command: the command has no program"},
		{`{"servers":{"a/b":{"url":"http://x"}}}`, `"a/b"`},
		{`{"servers":{"a":{}}}`, "servers.a: command or url is needed"},
		{`{"servers":{"a":{"url":"http://{prot}"}}}`, "servers.a.url: unknown placeholder {prot}"},
		{`{"ready_url":"http://x","servers":{"a":{"url":"http://x"}}}`, "no serve process"},
		{`{"name":"t","command":["a"],"ready_body":"x"}`, "need ready_url"},
		{`{"name":"t","command":["a"],"serve":["b"]}`, "serve needs ready_url"},
		{`{"name":"t","url":"http://x","serve":["b"],"probe":false}`, "serve needs ready_url"},
		{`{"name":"t","command":["a","{x}"]}`, "command[1]: unknown placeholder {x}"},
		{`{"name":"t","command":["a"],"env":{"A":"{x}"}}`, "env.A: unknown placeholder {x}"},
		{`{"name":"t","command":["a"],"setup":[["a"],[]]}`, "setup[1]: the command has no program"},
		{`{"name":"t","command":["a"],"setup":[["a","{y}"]]}`, "setup[0][1]: unknown placeholder {y}"},
		{`{"name":"t","command":["a"],"cleanup":[[]]}`, "cleanup[0]: the command has no program"},
		{`{"name":"t","command":["a"],"setup_timeout":"soon"}`, `setup_timeout: "soon" is no duration`},
		{`{"name":"t","command":["a"],"ready_timeout":"-1s"}`, "ready_timeout"},
		{`{"name":"t","command":["a"],"files":{"../x":""}}`, `"../x" is not the path of a file inside`},
		{`{"name":"t","command":["a"],"files":{"/etc/x":""}}`, "inside the working folder"},
		{`{"name":"t","command":["a"],"files":{"d/":""}}`, "inside the working folder"},
		{`{"name":"t","command":["a"],"files":{"a":""},"templates":{"./a":""}}`, `"a" is there twice`},
		{`{"name":"t","command":["a"],"templates":{"a":"{z}"}}`, "templates.a: unknown placeholder {z}"},
		{`{"name":"t","command":["a"],"snapshot_files":["a["]}`, "no glob"},
		{`{"name":"t","command":["a"],"snapshot_max_bytes":-1}`, "snapshot_max_bytes"},
		{`{"name":"t","command":["a"],"secrets":["NO"]}`, `no value, env variable or header "NO"`},
		{`{"name":"t","command":["a"],"values":{"pin":"1234"},"secrets":["pin"]}`, "fewer than 8 characters"},
		{`{"name":"t","command":["a"],"what":1}`, "what"},
	} {
		dir := t.TempDir()
		req := eval.ProvisionRequest{Config: eval.JSON(tt.config), WorkDir: dir}
		f := refused(t, newTestCommand(), req)
		if f.Cause != eval.CauseProvision || f.Retry == eval.RetryTrial || !strings.Contains(f.Detail, tt.want) {
			t.Errorf("%s: fault %+v; want one with %q that is not retried", tt.config, f, tt.want)
		}
	}
}

func TestPlan(t *testing.T) {
	req := request(t, map[string]any{
		"name": "t", "command": []string{"sh", "-c", "echo {port:a} {port:a} {port:b} {trial}", "{workdir}"},
		"env":     map[string]string{"KEY": "{env:UPSTREAM_KEY}", "SECRET": "{token}"},
		"values":  map[string]string{"folder": "{workdir}/in", "pass": "{token}"},
		"secrets": []string{"KEY", "pass"},
	})
	req.Env = map[string]string{"UPSTREAM_KEY": "upstream-key", "HOME": "/somewhere"}
	c := newTestCommand()
	target := provision(t, c, req)
	work := value(t, target, "workdir")
	if value(t, target, "folder") != work+"/in" || !strings.HasPrefix(work, req.WorkDir) {
		t.Errorf("values = %s; want folders below %s", target.Values, req.WorkDir)
	}
	s := target.Servers[0]
	if s.Name != "t" || s.Command != "sh" || s.Dir != work || s.Args[2] != work || s.StartTimeout.String() != "1m0s" {
		t.Errorf("server = %+v", s)
	}
	words := strings.Fields(s.Args[1])
	if words[1] != words[2] || words[1] == words[3] || words[4] != "story.v.host.r2" {
		t.Errorf("placeholders = %q", s.Args[1])
	}
	token := value(t, target, "pass")
	if len(token) < 20 || s.Env["SECRET"] != token {
		t.Errorf("token = %q, in env %q", token, s.Env["SECRET"])
	}
	if want := []string{"upstream-key", token}; strings.Join(target.Secrets, " ") != strings.Join(want, " ") {
		t.Errorf("secrets = %q; want %q", target.Secrets, want)
	}
	for k, want := range map[string]string{
		"HOME": req.WorkDir + "/home", "TMPDIR": req.WorkDir + "/tmp", "PATH": os.Getenv("PATH"), "LANG": "C.UTF-8",
		"KEY": "upstream-key", "UPSTREAM_KEY": "upstream-key", "USER": "",
	} {
		if s.Env[k] != want {
			t.Errorf("env %s = %q; want %q", k, s.Env[k], want)
		}
	}
}

func TestSeveralServers(t *testing.T) {
	req := request(t, map[string]any{
		"name": "target", "env": map[string]string{"A": "1", "B": "1"}, "probe": false,
		"servers": map[string]any{
			"two": map[string]any{"url": "http://127.0.0.1:{port}/mcp", "headers": map[string]string{"X": "{nonce}"}},
			"one": map[string]any{"command": []string{"sh"}, "env": map[string]string{"B": "2"}, "ready_timeout": "5s", "url": nil},
		},
	})
	target := provision(t, newTestCommand(), req)
	if len(target.Servers) != 2 || target.Servers[0].Name != "one" || target.Servers[1].Name != "two" {
		t.Fatalf("servers = %+v", target.Servers)
	}
	one, two := target.Servers[0], target.Servers[1]
	if one.Env["A"] != "1" || one.Env["B"] != "2" || one.StartTimeout.String() != "5s" {
		t.Errorf("one = %+v", one)
	}
	if two.Headers["X"] != req.Nonce || two.Command != "" || !strings.HasPrefix(two.URL, "http://127.0.0.1:") {
		t.Errorf("two = %+v", two)
	}
}

package engine

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/launch"
	"github.com/evalengine/evalengine/engine/internal/ledger"
	"github.com/evalengine/evalengine/plugins/host"
	"github.com/evalengine/evalengine/plugins/rpc"
)

// A second major of the host protocol, of this test alone: no stream, one call for a
// turn.
const second = "evalengine.host.v2.HostService"

type secondService interface {
	turn(prompt string) string
}

type answering struct{}

func (answering) turn(prompt string) string { return "2: " + prompt }

func unary[Q any](name string, do func(secondService, *Q) any) grpc.MethodDesc {
	return grpc.MethodDesc{MethodName: name, Handler: func(srv any, _ context.Context, dec func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		q := new(Q)
		if err := dec(q); err != nil {
			return nil, err
		}
		return do(srv.(secondService), q), nil
	}}
}

func registerSecond(s *grpc.Server) {
	s.RegisterService(&grpc.ServiceDesc{ServiceName: second, HandlerType: (*secondService)(nil), Methods: []grpc.MethodDesc{
		unary("Name", func(secondService, *emptypb.Empty) any { return wrapperspb.String("second") }),
		unary("Turn", func(s secondService, q *wrapperspb.StringValue) any { return wrapperspb.String(s.turn(q.GetValue())) }),
	}}, answering{})
}

// secondClient is the engine's half.
type secondClient struct{ conn grpc.ClientConnInterface }

func newSecond(_ string, conn grpc.ClientConnInterface) any { return secondClient{conn} }

func (c secondClient) Describe(ctx context.Context) (eval.Description, error) {
	var name wrapperspb.StringValue
	err := c.conn.Invoke(ctx, "/"+second+"/Name", &emptypb.Empty{}, &name)
	return eval.Description{Name: name.GetValue(), Version: "2", Capabilities: []string{eval.CapNoFolders}}, err
}

func (c secondClient) Start(context.Context, eval.SessionSpec) (eval.Session, error) { return c, nil }

func (c secondClient) Turn(ctx context.Context, prompt string, _ func(eval.Event)) (eval.TurnResult, error) {
	var answer wrapperspb.StringValue
	err := c.conn.Invoke(ctx, "/"+second+"/Turn", wrapperspb.String(prompt), &answer)
	return eval.TurnResult{Outcome: eval.Completed, Answer: answer.GetValue()}, err
}

func (secondClient) Close() error { return nil }

// firstHost speaks the first major.
type firstHost struct{ spender }

func (firstHost) Start(context.Context, eval.SessionSpec) (eval.Session, error) {
	return firstHost{}, nil
}

func (firstHost) Turn(_ context.Context, prompt string, _ func(eval.Event)) (eval.TurnResult, error) {
	return eval.TurnResult{Outcome: eval.Completed, Answer: "1: " + prompt}, nil
}

// serveVersions is main of the plugins: what they speak is in their names.
func serveVersions(name string) {
	two := rpc.Service{Major: 2, Register: registerSecond}
	none := func(*grpc.Server) {}
	switch name {
	case "first":
		host.Serve(firstHost{})
	case "second":
		rpc.Serve(rpc.KindHost, []rpc.Service{two}, func() {})
	case "both":
		rpc.Serve(rpc.KindHost, append(rpc.HostServices(firstHost{}), two), func() {})
	case "neither":
		rpc.Serve(rpc.KindHost, []rpc.Service{{Major: 0, Register: none}, {Major: 99, Register: none}}, func() {})
	}
}

// One engine runs plugins of the old, of the new and of both majors in one run.
func TestMajorsSideBySide(t *testing.T) {
	text := "suite \"majors\" {}\n"
	for _, name := range []string{"first", "second", "both"} {
		text += fmt.Sprintf("host %q { driver = %q }\n", name, name)
	}
	text += "story \"a\" {\n  prompt = \"x\"\n  check \"x\" { condition = endswith(answer, \": x\") }\n}\n"
	e := versionsEngine(t)
	file := filepath.Join(t.TempDir(), "suite.hcl")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, diags := e.Load(t.Context(), []string{file}, LoadOptions{Hosts: []string{"*"}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	store := t.TempDir()
	res, err := runIn(t, e, s, store)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, c := range res.Run.Plugins {
		got[c.Name] = fmt.Sprintf("protocol %d", c.Protocol)
	}
	kept, err := ledger.Open(store)
	if err != nil {
		t.Fatal(err)
	}
	run, err := kept.Run("latest")
	if err != nil {
		t.Fatal(err)
	}
	for rec, err := range run.Records() {
		if err != nil {
			t.Fatal(err)
		}
		got[rec.Host] += ", " + string(rec.Status) + ", " + rec.Answer
	}
	for name, want := range map[string]string{
		"first": "protocol 1, passed, 1: x", "second": "protocol 2, passed, 2: x", "both": "protocol 2, passed, 2: x",
	} {
		if got[name] != want {
			t.Errorf("%s = %q; want %q", name, got[name], want)
		}
	}
	_, err = e.pool.Host(t.Context(), "neither", "")
	const want = `host plugin "neither": speaks version 0 of the host protocol, and this engine 1 and 2; ` +
		`use a version of the plugin, or of evalengine, that fits; it said "it speaks host protocol 0 and 99, the engine `
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error = %v; want %q", err, want)
	}
}

// versionsEngine is an engine that speaks the test's major beside its own.
func versionsEngine(t *testing.T) *Engine {
	t.Helper()
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"first", "second", "both", "neither"} {
		if err := os.Symlink(exe, filepath.Join(dir, "evalengine-host-"+name)); err != nil {
			t.Fatal(err)
		}
	}
	e := New(Options{
		Plugins: launch.Finder{Path: []string{dir}}, Cache: filepath.Join(dir, "cache"), Dir: dir,
		Environ: func(string) (string, bool) { return "", false }, Environment: os.Environ(),
	})
	t.Cleanup(func() { closed(t, e) })
	closed(t, e.pool)
	e.pool = launch.New(launch.Options{
		Finder: launch.Finder{Path: []string{dir}}, Dir: dir, Environ: os.Environ(),
		Protocols: map[string][]rpc.Protocol{rpc.KindHost: append(rpc.Protocols(rpc.KindHost), rpc.Protocol{Major: 2, Client: newSecond})},
	})
	return e
}

func closed(t *testing.T, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

//go:build linux

package rpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/internal/proc"
)

const (
	testPlugin = "EVALENGINE_TEST_PLUGIN"
	testChild  = "EVALENGINE_TEST_CHILD"
	// testNeighbour is the handshake of another plugin.
	testNeighbour = "EVALENGINE_TEST_NEIGHBOUR"
)

// TestMain makes the test binary a plugin where it is started as one.
func TestMain(m *testing.M) {
	if mode := os.Getenv(testPlugin); mode != "" {
		pluginMain(mode)
		return
	}
	os.Exit(m.Run())
}

// pluginMain behaves as the mode says. Where testChild names a file it first
// starts a process that holds all pipes and leaves the session, and notes it there.
func pluginMain(mode string) {
	if f := os.Getenv(testChild); f != "" {
		c := exec.Command("setsid", "sleep", "1000")
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		if err := c.Start(); err != nil {
			panic(err)
		}
		if err := os.WriteFile(f, []byte(strconv.Itoa(c.Process.Pid)), 0o600); err != nil {
			panic(err)
		}
	}
	switch mode {
	case "serve":
		ServeHost(crashing())
	case "stray":
		fmt.Println("hi")
		ServeHost(crashing())
	case "blank":
		fmt.Println()
		ServeHost(crashing())
	case "flood":
		fmt.Print(strings.Repeat("x", 1<<20))
		ServeHost(crashing())
	case "refuse":
		ServeProvisioner(&fakeProvisioner{})
	case "garbage":
		os.Stdout.WriteString("\x7fELF\x00\x1b[2J\xff\n")
		ServeHost(crashing())
	case "looks like one":
		fmt.Println("done|3|of|4 items")
		ServeHost(crashing())
	case "another core":
		fmt.Println("2|1|unix|/tmp/evalengine-nowhere|grpc|")
		forever()
	case "another transport":
		fmt.Println("1|1|unix|/tmp/evalengine-nowhere|netrpc|")
		forever()
	case "elsewhere":
		fmt.Println("1|1|tcp|192.0.2.1:80|grpc|")
		forever()
	case "neighbour":
		fmt.Println(os.Getenv(testNeighbour))
		forever()
	case "floods":
		go flood(os.Stdout, "")
		flood(os.Stderr, "\n")
	case "handshake and exit":
		fmt.Println("1|1|unix|/tmp/evalengine-nowhere|grpc|")
		fmt.Fprintln(os.Stderr, "no licence found")
		os.Exit(3)
	case "handshake and panic":
		h := crashing()
		h.describe = func() eval.Description { go panic("out of order"); forever(); return eval.Description{} }
		ServeHost(h)
	case "describes late":
		h := crashing()
		h.describe = func() eval.Description { forever(); return eval.Description{} }
		ServeHost(h)
	case "describes huge":
		serveDescription(eval.Description{Name: "fake", Doc: strings.Repeat("x", 8<<20)})
	case "describes screen":
		serveDescription(eval.Description{Name: "fake", Version: "1\x1b[2J"})
	case "describes nothing":
		serveDescription(eval.Description{})
	case "hang":
		fmt.Fprintln(os.Stderr, "waiting for a key")
		forever()
	case "half":
		fmt.Print("1|1|unix|/tmp/nowhere")
		forever()
	case "half and exit":
		fmt.Print("1|1|unix|/tmp/now")
		os.Exit(3)
	case "less than half and exit":
		fmt.Print("1|1")
		os.Exit(3)
	case "nowhere":
		fmt.Println("1|1|unix|/tmp/evalengine-nowhere|grpc|")
		forever()
	case "mute":
		l, err := net.Listen("unix", filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), "mute"))
		if err != nil {
			panic(err)
		}
		fmt.Printf("1|1|unix|%s|grpc|\n", l.Addr())
		forever()
	case "exit":
		fmt.Fprintln(os.Stderr, "no licence found")
		os.Exit(3)
	case "version 9":
		serveMajors(9)
	case "version 0 and 99":
		serveMajors(0, 99)
	case "version 9 of another make":
		fmt.Println("1|9|unix|/tmp/evalengine-nowhere|grpc|")
		forever()
	}
}

func serveMajors(list ...int) {
	var services []Service
	for _, n := range list {
		services = append(services, Service{Major: n, Register: func(*grpc.Server) {}})
	}
	Serve(KindHost, services, func() {})
}

func serveDescription(d eval.Description) {
	h := crashing()
	h.describe = func() eval.Description { return d }
	ServeHost(h)
}

// forever does nothing, and is no deadlock that the runtime would notice.
func forever() {
	for {
		time.Sleep(time.Hour)
	}
}

// flood writes without end.
func flood(w *os.File, end string) {
	text := []byte(strings.Repeat("x", 1<<20) + end)
	for {
		w.Write(text)
	}
}

// crashing is a host that does in a turn what the prompt says.
func crashing() *fakeHost {
	h := &fakeHost{}
	h.turn = func(ctx context.Context, prompt string, emit func(eval.Event)) (eval.TurnResult, error) {
		emit(eval.Event{Progress: "up"})
		switch prompt {
		case "exit":
			os.Exit(3)
		case "panic":
			go panic("out of order")
			<-ctx.Done()
		case "wait":
			<-ctx.Done()
			return eval.TurnResult{}, ctx.Err()
		case "env":
			return eval.TurnResult{Outcome: eval.Completed, Answer: strings.Join(os.Environ(), "\n")}, nil
		case "log":
			fmt.Fprintln(os.Stderr, "to stderr")
			fmt.Fprintln(os.Stdout, "to stdout")
		}
		return eval.TurnResult{Outcome: eval.Completed, Answer: prompt}, nil
	}
	return h
}

func command(t testing.TB, mode string) Command {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Command{
		Kind: KindHost, Name: "fake", Path: self, StartTimeout: time.Minute,
		Env: []string{"PATH=" + os.Getenv("PATH"), testPlugin + "=" + mode},
	}
}

func started(t testing.TB, c Command) *Process {
	t.Helper()
	p, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// gone checks that the process noted in the file is no more.
func gone(t *testing.T, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(b))
	if err != nil {
		t.Fatal(err)
	}
	if proc.Alive(pid) {
		t.Errorf("process %d, started by the plugin, is still there", pid)
	}
}

// Every row: the error names the plugin and says what happened, nothing of the
// plugin is left, and the next try works.
func TestPluginsThatDoNotStart(t *testing.T) {
	neighbour := started(t, command(t, "serve"))
	theirs := string(neighbour.run.first.get())
	address, _, _ := strings.Cut(theirs, "|grpc|")
	const short = 3 * time.Second
	for _, tt := range []struct {
		mode    string
		timeout time.Duration
		want    string
		retry   eval.Retry
	}{
		{"stray", time.Minute, `wrote "hi" to stdout where its handshake belongs`, eval.RetryNever},
		{"blank", time.Minute, `wrote an empty line to stdout where its handshake belongs`, eval.RetryNever},
		{"garbage", time.Minute, `wrote "\x7fELF\x00\x1b[2J` + "\uFFFD" + `" to stdout`, eval.RetryNever},
		{"looks like one", time.Minute, `wrote "done|3|of|4 items" to stdout`, eval.RetryNever},
		{"another core", time.Minute, `wrote "2|1|unix|/tmp/evalengine-nowhere|grpc|" to stdout`, eval.RetryNever},
		{"another transport", time.Minute, `unsupported plugin protocol "netrpc"`, eval.RetryNever},
		{"elsewhere", time.Minute, `the address "192.0.2.1:80", which is not one of this machine's own`, eval.RetryNever},
		{"neighbour", time.Minute, `another process than the one that was started, answers at the address of its handshake: `, eval.RetryNever},
		{"neighbour " + theirs, time.Minute, `another process than the one that was started, answers at the address of its handshake: `, eval.RetryNever},
		{"neighbour " + address + "|grpc|" + strings.Repeat("A", 60), time.Minute, `error parsing server cert`, eval.RetryNever},
		{"flood", time.Minute, `wrote "xxxxxxxxxx`, eval.RetryNever},
		{"floods", time.Minute, `wrote "xxxxxxxxxx`, eval.RetryNever},
		{"refuse", time.Minute, `does not serve the host protocol`, eval.RetryStop},
		{"hang", short, `not ready after 3s; it said "waiting for a key"`, eval.RetryNever},
		{"half", short, `not ready after 3s, in the middle of its handshake "1|1|unix|/tmp/nowhere"`, eval.RetryNever},
		{"half and exit", time.Minute, `ended at its start: exit status 3, in the middle of its handshake "1|1|unix|/tmp/now"`, eval.RetryNever},
		{"less than half and exit", time.Minute, `ended at its start: exit status 3, in the middle of its handshake "1|1"`, eval.RetryNever},
		{"nowhere", time.Minute, `nobody, or another process than the one that was started, answers at the address of its handshake: `, eval.RetryNever},
		{"mute", short, `not ready after 3s`, eval.RetryNever},
		{"exit", time.Minute, `ended at its start: exit status 3; it said "no licence found"`, eval.RetryNever},
		{"handshake and exit", time.Minute, `ended at its start: exit status 3; it said "no licence found"`, eval.RetryNever},
		{"handshake and panic", time.Minute, `ended at its start: exit status 2; it said "panic: out of order"`, eval.RetryNever},
		{"describes late", short, `not ready after 3s`, eval.RetryNever},
		{"describes huge", time.Minute, `a message is too large`, eval.RetryNever},
		{"describes screen", time.Minute, `describes itself with the unusable version "1\x1b[2J"`, eval.RetryNever},
		{"describes nothing", time.Minute, `describes itself without a name`, eval.RetryNever},
		{"version 9", time.Minute, `speaks version 9 of the host protocol, and this engine 1; use a version of the plugin, or of evalengine, that fits; it said "it speaks host protocol 9, the engine 1"`, eval.RetryNever},
		{"version 0 and 99", time.Minute, `speaks version 0 of the host protocol, and this engine 1; use a version of the plugin, or of evalengine, that fits; it said "it speaks host protocol 0 and 99, the engine 1"`, eval.RetryNever},
		{"version 9 of another make", time.Minute, `speaks version 9 of the host protocol, and this engine 1`, eval.RetryNever},
	} {
		mode, handshake, _ := strings.Cut(tt.mode, " 1|")
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			c := command(t, mode)
			child := filepath.Join(t.TempDir(), "child")
			plain := c.Env
			c.Env = append(slices.Clone(plain), testChild+"="+child, testNeighbour+"="+address+"|grpc|")
			if handshake != "" {
				c.Env[len(c.Env)-1] = testNeighbour + "=1|" + handshake
			}
			c.StartTimeout = tt.timeout
			_, err := Start(t.Context(), c)
			var f *eval.Fault
			if !errors.As(err, &f) {
				t.Fatalf("error = %v; want a fault", err)
			}
			if !strings.HasPrefix(f.Detail, `host plugin "fake": `) || !strings.Contains(f.Detail, tt.want) {
				t.Errorf("detail = %q; want the plugin's name and %q", f.Detail, tt.want)
			}
			if f.Cause != eval.CausePlugin || f.Retry != tt.retry {
				t.Errorf("fault = %+v; want cause plugin, retry %s", f, tt.retry)
			}
			gone(t, child)
			c.Env, c.StartTimeout = append(plain, testPlugin+"=serve"), time.Minute
			started(t, c)
		})
	}
	t.Cleanup(func() {
		if _, err := neighbour.Host().Describe(context.Background()); err != nil {
			t.Errorf("the neighbour: %v", err)
		}
	})
}

func TestNoSuchBinary(t *testing.T) {
	_, err := Start(t.Context(), Command{Kind: KindHost, Name: "fake", Path: "/no/such/file"})
	if f := eval.AsFault(err); f.Cause != eval.CausePlugin || !strings.Contains(f.Detail, "no such file") {
		t.Errorf("fault = %+v; want one that says so", f)
	}
}

func TestStartIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := command(t, "hang")
	c.Log = writerFunc(func([]byte) { cancel() })
	if _, err := Start(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v; want canceled", err)
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) { f(b); return len(b), nil }

func TestProcess(t *testing.T) {
	t.Setenv("AMBIENT_SECRET", "s3cret")
	for _, noTLS := range []bool{false, true} {
		t.Run(fmt.Sprintf("NoTLS=%v", noTLS), func(t *testing.T) {
			c := command(t, "serve")
			c.NoTLS = noTLS
			p := started(t, c)
			if p.Description.Name != "fake" || p.Provisioner() != nil {
				t.Errorf("description = %+v", p.Description)
			}
			sess, err := p.Host().Start(t.Context(), eval.SessionSpec{})
			if err != nil {
				t.Fatal(err)
			}
			res, err := sess.Turn(t.Context(), "env", noEvents)
			if err != nil || strings.Contains(res.Answer, "AMBIENT_SECRET") {
				t.Errorf("the plugin's environment holds the engine's own: %v\n%s", err, res.Answer)
			}
			pid := p.Pid()
			if err := sess.Close(); err != nil {
				t.Error(err)
			}
			p.Close()
			p.Close()
			if proc.Alive(pid) {
				t.Errorf("plugin %d is alive after Close", pid)
			}
		})
	}
}

// A panic that nobody could catch is quoted, not the last line of its trace.
func TestPanicIsQuoted(t *testing.T) {
	p := started(t, command(t, "serve"))
	sess, err := p.Host().Start(t.Context(), eval.SessionSpec{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = sess.Turn(t.Context(), "panic", noEvents); err == nil {
		t.Error("Turn gave no error")
	}
	<-p.Done()
	if got, want := p.Ended(), `exit status 2; it said "panic: out of order"`; got != want {
		t.Errorf("Ended() = %q; want %q", got, want)
	}
	sess.Close()
}

func TestCrashInMidStream(t *testing.T) {
	c := command(t, "serve")
	child := filepath.Join(t.TempDir(), "child")
	c.Env = append(c.Env, testChild+"="+child)
	p := started(t, c)
	sess, err := p.Host().Start(t.Context(), eval.SessionSpec{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = sess.Turn(t.Context(), "exit", noEvents)
	f := eval.AsFault(err)
	if f.Cause != eval.CausePlugin || f.Retry != eval.RetryTrial || !strings.HasPrefix(f.Detail, `host plugin "fake": `) {
		t.Errorf("fault = %+v; want one of the plugin, to be tried again, with its name", f)
	}
	<-p.Done()
	if got, want := p.Ended(), "exit status 3"; got != want {
		t.Errorf("Ended() = %q; want %q", got, want)
	}
	gone(t, child)
	sess.Close()
}

// A session that is open when the plugin is closed ends first.
func TestCloseEndsSessions(t *testing.T) {
	p := started(t, command(t, "serve"))
	sess, err := p.Host().Start(t.Context(), eval.SessionSpec{})
	if err != nil {
		t.Fatal(err)
	}
	up, ended := make(chan struct{}), make(chan error)
	go func() {
		_, err := sess.Turn(t.Context(), "wait", func(eval.Event) { close(up) })
		ended <- err
	}()
	<-up
	p.Close()
	if f := eval.AsFault(<-ended); f == nil || f.Cause == "" {
		t.Errorf("fault = %+v; want one", f)
	}
	sess.Close()
}

// The plugin ends when the engine is gone: its stdin ends.
func TestEndsWithTheEngine(t *testing.T) {
	p := started(t, command(t, "serve"))
	if err := p.run.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if got, want := p.Ended(), "exit status 0"; got != want {
		t.Errorf("Ended() = %q; want %q", got, want)
	}
}

func TestLog(t *testing.T) {
	var mu sync.Mutex
	var log bytes.Buffer
	all := make(chan struct{})
	c := command(t, "serve")
	c.Log = writerFunc(func(b []byte) {
		mu.Lock()
		defer mu.Unlock()
		log.Write(b)
		if strings.Contains(log.String(), "to stdout") && strings.Contains(log.String(), "to stderr") {
			select {
			case <-all:
			default:
				close(all)
			}
		}
	})
	p := started(t, c)
	sess, err := p.Host().Start(t.Context(), eval.SessionSpec{})
	if err != nil {
		t.Fatal(err)
	}
	defer sess.Close()
	if _, err := sess.Turn(t.Context(), "log", noEvents); err != nil {
		t.Fatal(err)
	}
	<-all
}

func BenchmarkStart(b *testing.B) {
	for _, noTLS := range []bool{false, true} {
		b.Run(fmt.Sprintf("NoTLS=%v", noTLS), func(b *testing.B) {
			c := command(b, "serve")
			c.NoTLS = noTLS
			before := cpu(b)
			for b.Loop() {
				p, err := Start(b.Context(), c)
				if err != nil {
					b.Fatal(err)
				}
				p.Close()
			}
			b.ReportMetric(float64((cpu(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
}

func BenchmarkDescribe(b *testing.B) {
	p := started(b, command(b, "serve"))
	b.Run("alone", func(b *testing.B) {
		for b.Loop() {
			if _, err := p.Host().Describe(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.SetParallelism(8)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := p.Host().Describe(b.Context()); err != nil {
					b.Error(err)
				}
			}
		})
	})
}

func BenchmarkSession(b *testing.B) {
	for _, noTLS := range []bool{false, true} {
		b.Run(fmt.Sprintf("NoTLS=%v", noTLS), func(b *testing.B) {
			c := command(b, "serve")
			c.NoTLS = noTLS
			p := started(b, c)
			b.SetParallelism(8)
			before, childBefore := cpu(b), processCPU(b, p.Pid())
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					sess, err := p.Host().Start(b.Context(), eval.SessionSpec{})
					if err != nil {
						b.Error(err)
						return
					}
					if _, err := sess.Turn(b.Context(), "x", noEvents); err != nil {
						b.Error(err)
					}
					sess.Close()
				}
			})
			b.StopTimer()
			n := float64(b.N)
			b.ReportMetric(float64((cpu(b)-before).Microseconds())/1000/n, "engine-cpu-ms/op")
			b.ReportMetric(float64((processCPU(b, p.Pid())-childBefore).Microseconds())/1000/n, "plugin-cpu-ms/op")
		})
	}
}

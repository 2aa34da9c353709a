// Command scripted-model is a model server that needs no key and no network:
// it answers agent CLIs from a script. The README tells how to point Claude
// Code and Codex at it and how to write a script. All but the command line is
// in package model.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"

	"github.com/evalengine/evalengine/examples/scripted-model/model"
)

const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
)

const usage = `usage: scripted-model [--addr 127.0.0.1:0] [--script FILE] [--log FILE]
       scripted-model scenarios [--script FILE]
       scripted-model library

Serves the Anthropic Messages, OpenAI Responses and OpenAI chat completions
APIs on a loopback address and answers from a script. Example:

  scripted-model --addr 127.0.0.1:8377 --script recipes.json

scenarios lists what can be asked for by name; library prints the built-in
script, to start one's own from. Flags:
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

type options struct {
	addr, script, log string
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	command := "serve"
	if len(args) > 0 && (args[0] == "scenarios" || args[0] == "library") {
		command, args = args[0], args[1:]
	}
	var opt options
	fs := flag.NewFlagSet("scripted-model", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&opt.addr, "addr", "127.0.0.1:0", "loopback `address` to listen on")
	fs.StringVar(&opt.script, "script", "", "script `file`; without it the built-in library is served")
	fs.StringVar(&opt.log, "log", "", "`file` to which every request is added as a line of JSON")
	fs.Usage = func() {
		fmt.Fprint(stderr, usage)
		fs.PrintDefaults()
	}
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		return exitOK
	} else if err != nil {
		return exitUsage
	}
	if fs.NArg() > 0 {
		fmt.Fprintf(stderr, "scripted-model: unexpected argument %q\n", fs.Arg(0))
		return exitUsage
	}
	script, err := load(opt.script)
	if err != nil {
		fmt.Fprintf(stderr, "scripted-model: %v\n", err)
		return exitUsage
	}
	switch command {
	case "scenarios":
		list(stdout, script)
	case "library":
		stdout.Write(model.LibrarySource()) //nolint:errcheck // nobody reads it then
	default:
		if err := serve(ctx, opt, script, stdout); err != nil {
			fmt.Fprintf(stderr, "scripted-model: %v\n", err)
			return exitError
		}
	}
	return exitOK
}

// load reads a script, or the library if no file is named.
func load(file string) (*model.Script, error) {
	if file == "" {
		return model.Library(), nil
	}
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	script, err := model.Parse(src)
	if err != nil {
		return nil, fmt.Errorf("script %s:\n%w", file, err)
	}
	return script, nil
}

func list(w io.Writer, script *model.Script) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, sc := range script.Scenarios() {
		fmt.Fprintf(tw, "%s\t%s\n", sc.Name, sc.About)
	}
	tw.Flush() //nolint:errcheck // nobody reads it then
}

// serve answers until ctx is done. Its first lines on w are what a user sets.
func serve(ctx context.Context, opt options, script *model.Script, w io.Writer) error {
	cfg := model.Config{Addr: opt.addr, Script: script}
	if opt.log != "" {
		f, err := os.OpenFile(opt.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		cfg.Log = f
	}
	srv, err := model.Listen(ctx, cfg)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "ANTHROPIC_BASE_URL=%s\nOPENAI_BASE_URL=%s/v1\n", srv.URL(), srv.URL())
	fmt.Fprintf(w, "# one scenario: %s and %s/v1\n# ready; Ctrl-C ends\n", srv.ScenarioURL("NAME"), srv.ScenarioURL("NAME"))
	<-ctx.Done()
	return srv.Close()
}

// Sitebuilder is a small website builder with an MCP server: something real for agents to work on, made fresh in a
// moment and looked into from outside. This file reads the command line; the service is package server.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/evalengine/evalengine/examples/sitebuilder/server"
	"github.com/evalengine/evalengine/examples/sitebuilder/site"
)

const usage = `sitebuilder is a small website builder with an MCP server, for trying agents on.

  sitebuilder serve [flags]    serve one account until interrupted
  sitebuilder state [flags]    print an account as JSON

For example:

  sitebuilder serve --template demo --addr 127.0.0.1:8400 --token secret
  sitebuilder state --url http://127.0.0.1:8400 --token secret

"sitebuilder serve -h" and "sitebuilder state -h" list the flags.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sitebuilder:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return errors.New("no command given")
	}
	switch args[0] {
	case "serve":
		return serve(ctx, args[1:], stdout, stderr)
	case "state":
		return state(ctx, args[1:], stdout, stderr)
	case "help", "-h", "--help":
		fmt.Fprint(stdout, usage)
		return nil
	}
	return fmt.Errorf("unknown command %q; the commands are serve and state", args[0])
}

// ready is the line that serve prints when it can be used.
type ready struct {
	MCPURL  string `json:"mcp_url"`
	SiteURL string `json:"site_url"`
	Token   string `json:"token"`
	Nonce   string `json:"nonce"`
}

func serve(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs := flag.NewFlagSet("sitebuilder serve", flag.ContinueOnError)
	fs.SetOutput(stderr)
	addr := fs.String("addr", "127.0.0.1:0", "loopback `address` to listen on; port 0 is any free one")
	stdio := fs.Bool("stdio", false, "serve MCP on stdin and stdout too, and end when stdin does; the line with the addresses goes to stderr")
	db := fs.String("db", "memory", "`file` that keeps the account between starts, or memory")
	token := fs.String("token", os.Getenv("SITEBUILDER_TOKEN"), "bearer `token` of the MCP endpoint (or SITEBUILDER_TOKEN); random if empty")
	nonce := fs.String("nonce", "", "`text` that /_nonce answers; random if empty")
	template := fs.String("template", "blank", "what a new account holds: "+strings.Join(site.Templates(), ", "))
	if err := parse(fs, args); err != nil {
		return err
	}
	file := *db
	if file == "memory" {
		file = ""
	}
	in, err := server.Start(ctx, server.Options{Template: *template, Token: *token, Nonce: *nonce, Addr: *addr, File: file})
	if err != nil {
		return err
	}
	defer in.Close()
	to := stdout
	if *stdio {
		to = stderr
	}
	if err := json.NewEncoder(to).Encode(ready{in.MCPURL, in.SiteURL, in.Token, in.Nonce}); err != nil {
		return err
	}
	if *stdio {
		return in.ServeMCP(ctx, &mcp.StdioTransport{})
	}
	<-ctx.Done()
	return nil
}

func parse(fs *flag.FlagSet, args []string) error {
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	return nil
}

func state(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs := flag.NewFlagSet("sitebuilder state", flag.ContinueOnError)
	fs.SetOutput(stderr)
	db := fs.String("db", "", "`file` of the account, or")
	url := fs.String("url", "", "`address` of a server that runs (its site_url)")
	token := fs.String("token", os.Getenv("SITEBUILDER_TOKEN"), "bearer `token` of that server (or SITEBUILDER_TOKEN)")
	if err := parse(fs, args); err != nil {
		return err
	}
	if (*db == "") == (*url == "") {
		return errors.New("give either --db or --url")
	}
	if *url != "" {
		return remoteState(ctx, *url, *token, stdout)
	}
	if _, err := os.Stat(*db); err != nil {
		return err
	}
	store, err := site.Open(*db, "blank")
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(store.State())
}

func remoteState(ctx context.Context, url, token string, stdout io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(url, "/")+"/_state", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", req.URL.Redacted(), res.Status)
	}
	_, err = io.Copy(stdout, res.Body)
	return err
}

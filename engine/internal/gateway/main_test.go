package gateway

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/evalengine/evalengine/engine/eval"
)

// kindEnv makes the test binary one of the servers under test.
const kindEnv = "GATEWAY_TEST_SERVER"

func TestMain(m *testing.M) {
	switch os.Getenv(kindEnv) {
	case "":
		goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
	case "sdk":
		if err := newSDKServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil && !errors.Is(err, context.Canceled) {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "raw":
		rawServer()
	case "http":
		hostileHTTP()
	case "client":
		if err := conformanceClient(os.Getenv("MCP_CONFORMANCE_SCENARIO"), os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "crowd":
		crowd()
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		rawServer()
		time.Sleep(time.Hour)
	case "silent":
		time.Sleep(time.Hour)
	case "crash":
		fmt.Fprintln(os.Stderr, "cannot open the database")
		os.Exit(4)
	}
}

// testServer is the test binary as a server over stdio.
func testServer(t testing.TB, name, kind string, env ...string) eval.Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := eval.Server{Name: name, Command: self, Env: map[string]string{kindEnv: kind}}
	for i := 0; i+1 < len(env); i += 2 {
		s.Env[env[i]] = env[i+1]
	}
	return s
}

// rawServer answers lines by rules of its own: the method names what to do. It
// is for what no proper server does.
func rawServer() {
	fmt.Print(os.Getenv("BANNER"))
	in := bufio.NewReader(os.Stdin)
	lists := strings.Split(os.Getenv("TOOLS"), "||") // one a time, then the last again
	for {
		text, err := in.ReadString('\n')
		if err != nil {
			return
		}
		var id, rest string
		if _, after, ok := strings.Cut(text, `"id":`); ok {
			id, rest, _ = strings.Cut(after, ",")
		}
		reply := func(result string) { fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result) }
		has := func(s string) bool { return strings.Contains(rest, s) }
		switch {
		case has(`"method":"initialize"`):
			reply(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}}`)
		case has(`"method":"tools/list"`):
			tools, failed := strings.CutPrefix(lists[0], "error:")
			lists = lists[min(1, len(lists)-1):]
			if failed {
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":%s}`+"\n", id, tools)
			} else {
				reply(tools)
			}
		case has(`"name":"big"`):
			fmt.Printf(`{"result":{"content":[{"type":"text","text":"`)
			chunk := strings.Repeat("x", 1<<20)
			for range 50 {
				os.Stdout.WriteString(chunk)
			}
			fmt.Printf(`"}],"isError":false},"jsonrpc":"2.0","id":%s}`+"\n", id)
		case has(`"name":"die"`):
			fmt.Fprintln(os.Stderr, "segmentation fault")
			os.Exit(3)
		case has(`"name":"wrong_id"`):
			fmt.Println(`{"jsonrpc":"2.0","id":"nobody","result":{}}`)
			reply(`{"content":[]}`)
		case has(`"name":"never"`):
		case has(`"name":"noise"`):
			fmt.Println(`debug: about to answer`)
			fmt.Println(`{"level":"info"}`)
			reply(`{"content":[{"type":"text","text":"` + "a\\u0000b\\ud83d" + `"}]}`)
		case has(`"name":"glued"`):
			fmt.Printf(`debug {"a":1} {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}{"jsonrpc":"2.0","id":%s,"result":{"content":[]}} done`+"\n", id)
		case has(`"name":"flood"`):
			for i := range 2000 {
				fmt.Printf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%d}}`+"\n", i)
			}
			reply(`{"content":[]}`)
		case has(`"name":"notify:`):
			_, after, _ := strings.Cut(rest, `"name":"notify:`)
			method, _, _ := strings.Cut(after, `"`)
			fmt.Printf(`{"jsonrpc":"2.0","method":%q}`+"\n", method)
			reply(`{"content":[]}`)
		case has(`"name":"flood_`):
			n, _ := strconv.Atoi(strings.Trim(rest[strings.Index(rest, "flood_")+6:][:6], "\"_"))
			out := bufio.NewWriter(os.Stdout)
			what := `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","pad":"` + strings.Repeat("x", 2000) + `","data":%d}}`
			if has("noise") {
				what = "noise " + strings.Repeat("x", 2000) + " %d"
			}
			for i := range n {
				fmt.Fprintf(out, what+"\n", i)
			}
			out.Flush()
			reply(`{"content":[]}`)
		case has(`"name":"reply:`):
			_, after, _ := strings.Cut(rest, `"name":"reply:`)
			result, _, _ := strings.Cut(after, `:end"`)
			reply(strings.ReplaceAll(result, `\"`, `"`))
		case id != "":
			reply(`{"content":[{"type":"text","text":"ok"}]}`)
		}
	}
}

type text struct {
	Text string `json:"text"`
}

func said(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

// newSDKServer is a server on the official SDK that uses all that the protocol
// has.
func newSDKServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, &mcp.ServerOptions{
		Instructions: "for tests",
		CompletionHandler: func(_ context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{r.Params.Argument.Value + "1"}}}, nil
		},
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
		PageSize:           4,
	})
	yes := true
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "says it again"}, func(_ context.Context, _ *mcp.CallToolRequest, in text) (*mcp.CallToolResult, any, error) {
		return said(in.Text), nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "structured", Description: "has a schema"}, func(_ context.Context, _ *mcp.CallToolRequest, in text) (*mcp.CallToolResult, text, error) {
		return nil, text{Text: in.Text + "!"}, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "remove", Description: "destroys", Annotations: &mcp.ToolAnnotations{DestructiveHint: &yes}}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return nil, nil, errors.New("nothing to remove")
	})
	var mu sync.Mutex
	n := 0
	mcp.AddTool(s, &mcp.Tool{Name: "count", Description: "counts its calls"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		mu.Lock()
		defer mu.Unlock()
		n++
		return said(fmt.Sprint(n)), nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "progress", Description: "tells of its progress"}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		for i := range 3 {
			r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i), Total: 3})
		}
		r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: "done"})
		return said("done"), nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "sample", Description: "asks the client's model"}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		res, err := r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 5, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "hi"}}}})
		if err != nil {
			return nil, nil, err
		}
		return said(res.Model), nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "elicit", Description: "asks the user"}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		res, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "name?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}}})
		if err != nil {
			return nil, nil, err
		}
		return said(fmt.Sprint(res.Action, res.Content["name"])), nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "roots", Description: "asks for roots"}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		res, err := r.Session.ListRoots(ctx, nil)
		if err != nil {
			return nil, nil, err
		}
		return said(res.Roots[0].URI), nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "grow", Description: "adds a tool"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		mcp.AddTool(s, &mcp.Tool{Name: "grown", Description: "new"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return said("grown"), nil, nil
		})
		return said("ok"), nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "wait", Description: "waits to be cancelled"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		<-ctx.Done()
		return nil, nil, ctx.Err()
	})
	s.AddPrompt(&mcp.Prompt{Name: "greet", Arguments: []*mcp.PromptArgument{{Name: "who"}}}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "hello " + r.Params.Arguments["who"]}}}}, nil
	})
	s.AddResource(&mcp.Resource{Name: "file", URI: "test://file"}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Blob: []byte{0, 1, 255}}}}, nil
	})
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "any", URITemplate: "any://{x}"}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "any"}}}, nil
	})
	return s
}

// open is a gateway of a hub of its own, closed with the test.
func open(t testing.TB, o Options, trial TrialOptions) *Gateway {
	t.Helper()
	if o.StopGrace == 0 {
		o.StopGrace = 200 * time.Millisecond
	}
	h, err := Listen(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	g, err := h.Open(t.Context(), trial)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
	})
	return g
}

package model

import "testing"

// everything is a scenario whose first step has all that a reply can have.
const everything = `{"scenarios": [{"name": "s", "turns": [{"steps": [
	{"reasoning": "I think <so> & act.",
	 "text": "Two calls: one with a long text, naïve and 日本語.",
	 "calls": [
		{"tool": "echo", "server": "demo", "arguments": {"message": "a message longer than one chunk", "n": 12345678901234567890}},
		{"tool": "get-sum"}],
	 "usage": {"input": 7, "cache_read": 100, "cache_write": 20, "output": 33, "reasoning": 5}},
	{"text": "done"}]}]},
 {"name": "refused", "turns": [{"steps": [{"text": "I will not.", "stop": "refusal"}]}]},
 {"name": "cut", "turns": [{"steps": [{"text": "And so", "stop": "max_tokens"}]}]}]}`

func TestWire(t *testing.T) {
	for _, p := range apis() {
		for _, scenario := range []string{"s", "refused", "cut"} {
			t.Run(p.name+"/"+scenario, func(t *testing.T) {
				srv := serve(t, everything)
				res := post(t, srv.ScenarioURL(scenario)+p.path, p.body(true, "go"))
				if got, want := res.Header.Get("Content-Type"), "text/event-stream"; got != want {
					t.Errorf("Content-Type %q; want %q", got, want)
				}
				golden(t, p.name+"-"+scenario+".sse", read(t, res))

				res = post(t, srv.ScenarioURL(scenario)+p.path, p.body(false, "go"))
				if got, want := res.Header.Get("Content-Type"), "application/json"; got != want {
					t.Errorf("Content-Type %q; want %q", got, want)
				}
				golden(t, p.name+"-"+scenario+".json", indent(t, read(t, res)))
			})
		}
	}
}

func TestErrorsInStreams(t *testing.T) {
	const script = `{"scenarios": [{"name": "s", "fault": {"kind": "stream_overloaded"}}]}`
	for _, p := range apis() {
		t.Run(p.name, func(t *testing.T) {
			srv := serve(t, script)
			golden(t, p.name+"-overloaded.sse", read(t, post(t, srv.URL()+p.path, p.body(true, "go"))))

			res := post(t, srv.URL()+p.path, p.body(false, "go"))
			if res.StatusCode != 529 {
				t.Errorf("not streamed: status %d; want 529", res.StatusCode)
			}
		})
	}
}

package model

import (
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

const closedSchema = `{"type":"object","properties":{"score":{"type":"integer","minimum":0,"maximum":4}},"required":["score"],"additionalProperties":false}`

func withSchema() *eval.ModelRequest {
	q := ask1("grade")
	q.Schema, q.SchemaName = eval.JSON(closedSchema), "grade it!"
	return q
}

// dig follows names into a JSON value.
func dig(v any, names ...string) any {
	for _, n := range names {
		m, _ := v.(map[string]any)
		v = m[n]
	}
	return v
}

func TestSchemaByTheAPIsOwnMeans(t *testing.T) {
	places := map[string][]string{
		"anthropic": {"output_config", "format", "schema"}, "responses": {"text", "format", "schema"},
		"chat": {"response_format", "json_schema", "schema"}, "compatible": {"response_format", "json_schema", "schema"},
	}
	for _, a := range apis() {
		t.Run(a.name, func(t *testing.T) {
			e := serve(t, jsonly(200, a.whole("ok", a.stops[0])))
			b := newBench(t, a, e.URL, "", nil)
			call(t, b.session(), withSchema())
			body := e.body(t, 0)
			if got := dig(body, append(places[a.name], "properties", "score", "type")...); got != "integer" {
				t.Errorf("schema = %v", dig(body, places[a.name]...))
			}
			strict := dig(body, append(places[a.name][:len(places[a.name])-1:len(places[a.name])-1], "strict")...)
			if a.name != "anthropic" && strict != true {
				t.Errorf("strict = %v; want true for a closed schema", strict)
			}
			if a.name == "anthropic" {
				score := dig(body, "output_config", "format", "schema", "properties", "score")
				if dig(score, "minimum") != nil || dig(score, "description") != `{"maximum":4,"minimum":0}` {
					t.Errorf("bounds that the API does not take: %v", score)
				}
			}
			if strings.Contains(string(e.bodies[0]), "JSON Schema:") {
				t.Error("the schema is said in words as well")
			}
		})
	}
}

// A provider that refuses the schema is told in words, at once and from then on.
func TestSchemaInWords(t *testing.T) {
	for _, a := range apis() {
		t.Run(a.name, func(t *testing.T) {
			e := serve(t, jsonly(400, `{"error":{"type":"invalid_request_error","message":"response_format json_schema is not supported"}}`),
				jsonly(200, a.whole("ok", a.stops[0])))
			b := newBench(t, a, e.URL, "", nil)
			s := b.session()
			for range 2 {
				if r := call(t, s, withSchema()); r.Failure != "" {
					t.Fatalf("reply = %+v", r)
				}
			}
			if e.requests() != 3 {
				t.Errorf("%d requests; want 3", e.requests())
			}
			for i, words := range []bool{false, true, true} {
				if got := strings.Contains(string(e.bodies[i]), "follows this JSON Schema"); got != words {
					t.Errorf("request %d: in words %v; want %v", i, got, words)
				}
			}
		})
	}
}

func TestSettingsReachTheRequest(t *testing.T) {
	names := map[string][3]string{
		"anthropic": {"max_tokens", "temperature", "output_config"}, "responses": {"max_output_tokens", "temperature", "reasoning"},
		"chat": {"max_completion_tokens", "temperature", "reasoning_effort"}, "compatible": {"max_tokens", "temperature", "reasoning_effort"},
	}
	for _, a := range apis() {
		t.Run(a.name, func(t *testing.T) {
			e := serve(t, jsonly(200, a.whole("ok", a.stops[0])))
			b := newBench(t, a, e.URL, `,"max_tokens":77,"temperature":0.5,"effort":"low"`, nil)
			call(t, b.session(), ask1("x"))
			q := ask1("x")
			zero := 0.0
			q.MaxTokens, q.Temperature = 99, &zero
			call(t, b.session(), q)
			n := names[a.name]
			first, second := e.body(t, 0), e.body(t, 1)
			if first[n[0]] != 77.0 || first[n[1]] != 0.5 || first["model"] != "gpt-5" {
				t.Errorf("the block's: %v", first)
			}
			if second[n[0]] != 99.0 || second[n[1]] != 0.0 {
				t.Errorf("the request's own: %v", second)
			}
			effort := first[n[2]]
			if m, ok := effort.(map[string]any); ok {
				effort = m["effort"]
			}
			if effort != "low" {
				t.Errorf("effort = %v", effort)
			}
		})
	}
}

func TestBadBlocks(t *testing.T) {
	for _, tt := range []struct{ provider, config, want string }{
		{"openai-compatible", `{}`, "base_url is missing"},
		{"openai", `{"colour":1}`, "unknown field"},
		{"openai", `{"api":"rpc"}`, "responses or chat"},
		{"openai", `{"base_url":"ftp://x"}`, "http or https"},
		{"openai", `{"base_url":"https://u:p@x"}`, "api_key_env"},
		{"anthropic", `{"api_key_env":"sk-123-456"}`, "not the key itself"},
		{"anthropic", `{"timeout":"soon"}`, "duration"},
		{"anthropic", `{"max_tokens":-1}`, "max_tokens"},
		{"anthropic", `{"retries":99}`, "retries"},
		{"anthropic", `{"temperature":3}`, "temperature"},
		{"anthropic", `{"price":{"input":1}}`, "both input and output"},
		{"anthropic", `{"price":{"input":-1,"output":1}}`, "0 or above"},
		{"anthropic", `{"cache":"some"}`, "off, trial or shared"},
	} {
		_, err := New(Options{Models: []eval.ModelConfig{{Name: "j", Provider: tt.provider, Config: eval.JSON(tt.config)}}})
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), `model "j": `) {
			t.Errorf("%s %s: %v; want %q", tt.provider, tt.config, err, tt.want)
		}
	}
}

package model

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxBody bounds a request's body, before and after decompression.
const maxBody = 64 << 20

// A protocol is the form of one vendor's API. Its methods are pure.
type protocol interface {
	name() string
	decode(body []byte) (*request, error)
	events(*reply) []event                      // a whole stream
	whole(*reply) any                           // the same, not streamed
	failing(*reply, apiError, string) []event   // a stream that begins well and ends with an error
	errorBody(e apiError, requestID string) any // the body of an HTTP error
	requestIDHeader() string
}

// A route is what the path of a request says.
type route struct {
	scenario, token, endpoint string
}

// Endpoints, after any "/v1".
const (
	endMessages  = "messages"
	endCount     = "messages/count_tokens"
	endResponses = "responses"
	endChat      = "chat/completions"
	endModels    = "models"
)

// routeOf reads /[scenario/[token/]][v1/]endpoint. Without an endpoint the
// path is that of a probe.
func routeOf(path string) (route, error) {
	rest := strings.Trim(path, "/")
	var r route
	for _, end := range []string{endCount, endMessages, endResponses, endChat, endModels} {
		if rest == end || strings.HasSuffix(rest, "/"+end) {
			r.endpoint = end
			rest = strings.Trim(strings.TrimSuffix(rest, end), "/")
			break
		}
	}
	if rest == "v1" {
		rest = ""
	}
	rest = strings.TrimSuffix(rest, "/v1")
	if rest == "" {
		return r, nil
	}
	parts := strings.Split(rest, "/")
	if len(parts) > 2 {
		return r, fmt.Errorf("no endpoint %q; want /[scenario/[token/]]v1/ and messages, responses or chat/completions", path)
	}
	r.scenario = parts[0]
	if len(parts) == 2 {
		r.token = parts[1]
	}
	return r, nil
}

func (r route) protocol() protocol {
	switch r.endpoint {
	case endResponses:
		return responses{}
	case endChat:
		return chat{}
	}
	return anthropic{}
}

func (s *Server) handle(w http.ResponseWriter, req *http.Request) {
	rt, err := routeOf(req.URL.Path)
	x := &exchange{s: s, w: w, req: req, route: rt, protocol: rt.protocol()}
	x.requestID = "req_01" + s.ids.next()
	x.seen = Request{
		Time: s.now(), Method: req.Method, Path: req.URL.Path, Scenario: rt.scenario, Token: rt.token,
		API: x.protocol.name(), Header: req.Header.Clone(),
	}
	switch {
	case err != nil:
		x.refuse("not_found", err)
	case req.Method == http.MethodHead || req.Method == http.MethodGet:
		x.probe()
	case req.Method != http.MethodPost || rt.endpoint == "" || rt.endpoint == endModels:
		x.refuse("not_found", fmt.Errorf("no endpoint %s %s", req.Method, req.URL.Path))
	default:
		x.post()
	}
}

// An exchange is one request being answered.
type exchange struct {
	s         *Server
	w         http.ResponseWriter
	req       *http.Request
	route     route
	protocol  protocol
	requestID string
	seen      Request
}

// probe answers what hosts ask before they begin.
func (x *exchange) probe() {
	x.seen.API = APIProbe
	x.record()
	if x.route.endpoint == endModels {
		x.json(http.StatusOK, o{"object", "list", "has_more", false, "data", []any{
			o{"id", "scripted-model", "object", "model", "type", "model", "display_name", "scripted-model", "created", 0, "owned_by", "scripted-model"},
		}})
		return
	}
	x.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for _, sc := range x.s.script.Scenarios() {
		fmt.Fprintf(x.w, "%s\t%s\n", sc.Name, sc.About)
	}
}

func (x *exchange) post() {
	body, err := readBody(x.w, x.req)
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		x.refuse("too_large", err)
		return
	}
	if err != nil {
		x.refuse("bad_request", err)
		return
	}
	x.seen.Body = body
	if key := x.s.script.apiKey; key != "" && key != keyOf(x.req.Header) {
		x.refuse("unauthorized", errors.New("the script's api_key was not sent"))
		return
	}
	req, err := x.protocol.decode(body)
	if err != nil {
		x.refuse("bad_request", err)
		return
	}
	x.seen.Model, x.seen.Stream, x.seen.Session = req.model, req.stream, req.session
	x.seen.Prompt = req.talk.firstPrompt()
	for _, t := range req.tools {
		x.seen.Tools = append(x.seen.Tools, t.String())
	}
	sc, err := x.scenario(req)
	if err != nil {
		x.refuse("not_found", err)
		return
	}
	x.seen.Scenario = sc.name
	if x.route.endpoint == endCount {
		x.seen.API = APICount
		x.record()
		x.json(http.StatusOK, o{"input_tokens", defaultUsage.Input + defaultUsage.CacheRead + defaultUsage.CacheWrite})
		return
	}
	x.answer(req, sc)
}

func (x *exchange) scenario(req *request) (*scenario, error) {
	if name := x.route.scenario; name != "" {
		if sc := x.s.script.scenario(name); sc != nil {
			return sc, nil
		}
		var known []string
		for _, sc := range x.s.script.scenarios {
			known = append(known, sc.name)
		}
		return nil, fmt.Errorf("no scenario %q%s", name, didYouMean(name, known))
	}
	if sc := x.s.script.match(req.talk.firstPrompt(), req.model); sc != nil {
		return sc, nil
	}
	return nil, fmt.Errorf("no scenario matches the prompt %q, and the script has no default", shorten(req.talk.firstPrompt()))
}

func shorten(s string) string {
	if r := []rune(s); len(r) > 200 {
		return string(r[:200]) + "..."
	}
	return s
}

func readBody(w http.ResponseWriter, req *http.Request) ([]byte, error) {
	body := http.MaxBytesReader(w, req.Body, maxBody)
	switch enc := req.Header.Get("Content-Encoding"); enc {
	case "", "identity":
		return io.ReadAll(body)
	case "gzip":
		z, err := gzip.NewReader(body)
		if err != nil {
			return nil, err
		}
		return io.ReadAll(http.MaxBytesReader(w, z, maxBody))
	default:
		return nil, fmt.Errorf("content encoding %q is not supported; send gzip or none", enc)
	}
}

// keyOf is the key that a client sent, in either vendor's header.
func keyOf(h http.Header) string {
	if key := h.Get("X-Api-Key"); key != "" {
		return key
	}
	scheme, key, _ := strings.Cut(h.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(key)
	}
	return ""
}

// refuse answers a request that no script can answer.
func (x *exchange) refuse(kind string, err error) {
	x.seen.Problem = err.Error()
	x.record()
	x.fail(&fault{kind: kind, message: "scripted-model: " + err.Error()})
}

func (x *exchange) record() { x.s.log.add(x.seen) }

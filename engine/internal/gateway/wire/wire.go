// Package wire holds JSON-RPC messages as bytes: it finds what a proxy must
// know of one (its id, its method, which tool) without decoding it, keeps big
// ones on disk, and changes single parts with every other byte left as it was.
// It knows nothing of transports. Start at [Builder], which makes a [Message]
// of bytes as they arrive.
package wire

import "strings"

// Range is a part of a message, End exclusive. The zero Range is absent.
type Range struct{ Start, End int64 }

// Present reports whether the part exists.
func (r Range) Present() bool { return r.End > r.Start }

// Field is a scalar of a message with its place.
type Field struct {
	Range
	// Raw is the value as sent: a number, a literal or a string in its quotes.
	Raw string
}

// Envelope is what the scanner finds in one JSON-RPC message.
type Envelope struct {
	Range
	ID                    Field
	Method                string
	HasMethod             bool
	Params, Result, Error Range

	// Name, Arguments and Continued belong to tools/call: a continued call is the
	// same call sent again with the input that the server asked for.
	Name      string
	Arguments Range
	Continued bool
	// Cursor says that a list request asks for a later page, More that a list
	// result has one.
	Cursor, More bool
	// Token is a request's progress token, Progress a progress notification's.
	Token, Progress Field
	// Cancels is the request that a cancellation names.
	Cancels Field
	// Subscription is the listening request that a notification belongs to.
	Subscription Field
	// Version is the protocol version that the message names, Stateless where it
	// does so in the metadata of a request that needs no session.
	Version   string
	Stateless bool
	// Tools is the array of a list result.
	Tools Range
	// IsError is the tool result's own word; ResultType says that a result is not
	// the last.
	IsError    bool
	ResultType string
	// Model is what a request to a model provider names, which is no JSON-RPC.
	Model string
}

// IsRequest reports whether the message wants an answer.
func (e *Envelope) IsRequest() bool {
	return e.HasMethod && e.ID.Present() && e.ID.Raw != "null"
}

// IsNotification reports whether the message is a method without an id.
func (e *Envelope) IsNotification() bool { return e.HasMethod && !e.IsRequest() }

// IsResponse reports whether the message answers a request.
func (e *Envelope) IsResponse() bool {
	return !e.HasMethod && e.ID.Present() && (e.Result.Present() || e.Error.Present())
}

// IsRPC reports whether the value is a JSON-RPC message at all.
func (e *Envelope) IsRPC() bool {
	return e.HasMethod || e.IsResponse() || (e.Error.Present() && !e.ID.Present())
}

// Kind is request, notification, response or other.
func (e *Envelope) Kind() string {
	switch {
	case e.IsRequest():
		return "request"
	case e.IsNotification():
		return "notification"
	case e.IsResponse():
		return "response"
	}
	return "other"
}

// fields says where a scalar of interest goes, by its path. Paths of objects and
// arrays set ranges.
func (e *Envelope) scalar(path []string, raw string, at Range) {
	f := Field{Range: at, Raw: raw}
	switch len(path) {
	case 1:
		switch path[0] {
		case "id":
			e.ID = f
		case "method":
			e.Method, e.HasMethod = unquote(raw), strings.HasPrefix(raw, `"`)
		case "model":
			e.Model = unquote(raw)
		}
		e.whole(path[0], at)
	case 2:
		e.second(path[0], path[1], f)
	case 3:
		if path[0] == "params" && path[1] == "_meta" {
			e.meta(path[2], f)
		}
	}
}

func (e *Envelope) second(top, key string, f Field) {
	switch top + "/" + key {
	case "params/name":
		e.Name = unquote(f.Raw)
	case "params/arguments":
		e.Arguments = f.Range
	case "params/requestState", "params/inputResponses":
		e.Continued = e.Continued || f.Raw != "null"
	case "params/cursor":
		e.Cursor = f.Raw != "null"
	case "params/requestId":
		e.Cancels = f
	case "params/progressToken":
		e.Progress = f
	case "params/protocolVersion", "result/protocolVersion":
		e.Version = unquote(f.Raw)
	case "result/isError":
		e.IsError = f.Raw == "true"
	case "result/resultType":
		e.ResultType = unquote(f.Raw)
	case "result/nextCursor":
		e.More = f.Raw != "null" && f.Raw != `""`
	}
}

func (e *Envelope) meta(key string, f Field) {
	switch key {
	case "progressToken":
		e.Token = f
	case "io.modelcontextprotocol/subscriptionId":
		e.Subscription = f
	case "io.modelcontextprotocol/protocolVersion":
		e.Version, e.Stateless = unquote(f.Raw), true
	}
}

func (e *Envelope) container(path []string, at Range) {
	switch len(path) {
	case 1:
		e.whole(path[0], at)
	case 2:
		switch path[0] + "/" + path[1] {
		case "params/arguments":
			e.Arguments = at
		case "params/inputResponses":
			e.Continued = true
		case "result/tools":
			e.Tools = at
		}
	}
}

func (e *Envelope) whole(key string, at Range) {
	switch key {
	case "params":
		e.Params = at
	case "result":
		e.Result = at
	case "error":
		e.Error = at
	}
}

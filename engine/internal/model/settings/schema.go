package settings

import (
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
)

// Providers are the names of the providers that are part of the engine.
func Providers() []string { return []string{Anthropic, OpenAI, Compatible} }

// Schema is what a model block of that provider may say; false where the
// provider is not part of the engine.
func Schema(provider string) (eval.Schema, bool) {
	if !slices.Contains(Providers(), provider) {
		return eval.Schema{}, false
	}
	var list []eval.Attribute
	list = append(list, address(provider)...)
	return eval.Schema{Attributes: append(list, common(provider)...)}, true
}

func text(s string) eval.JSON { return eval.JSON(`"` + s + `"`) }

// address are the attributes that say where the model is.
func address(provider string) []eval.Attribute {
	base, _, keyEnv := defaults(provider)
	url := eval.Attribute{Name: "base_url", Type: "string", Doc: "Where requests go. A gateway or a model on this machine is named here."}
	key := eval.Attribute{Name: "api_key_env", Type: "string",
		Doc: "Name of the environment variable that holds the key. A base_url on this machine gets a key only where this is set."}
	if provider == Compatible {
		url.Required = true
		url.Doc = "Where requests go, up to /chat/completions: http://127.0.0.1:11434/v1 for Ollama, http://127.0.0.1:8000/v1 for vLLM."
		key.Doc = "Name of the environment variable that holds the key. Without it no key is sent."
	} else {
		// The key's variable has no default that a suite would be filled up with: one
		// that says nothing and one that names the vendor's are not the same.
		url.Default = text(base)
		key.Doc = "Name of the environment variable that holds the key, " + keyEnv + " where this is left out. A base_url on this machine gets a key only where this is set."
	}
	if provider != OpenAI {
		return []eval.Attribute{url, key}
	}
	return []eval.Attribute{url, key, {
		Name: "api", Type: "string", Default: text(Responses), Enum: []string{Responses, Chat},
		Doc: "Which of OpenAI's APIs is used: the Responses API or Chat Completions.",
	}}
}

// common are the attributes that every provider has.
func common(provider string) []eval.Attribute {
	effort := []string{"none", "minimal", "low", "medium", "high", "xhigh"}
	if provider == Anthropic {
		effort = []string{"low", "medium", "high", "xhigh", "max"}
	}
	return []eval.Attribute{
		{Name: "max_tokens", Type: "number", Default: eval.JSON("8192"),
			Doc: "The longest answer, in tokens, reasoning included. A judge may ask for another bound."},
		{Name: "temperature", Type: "number",
			Doc: "Sampling temperature, 0 to 2. Left out, the provider decides; some models take none."},
		{Name: "effort", Type: "string", Enum: effort,
			Doc: "How much the model reasons before it answers. Left out, the provider decides."},
		{Name: "timeout", Type: "string", Default: text("2m"), Doc: "Bounds one request, its whole answer included."},
		{Name: "stream", Type: "bool", Default: eval.JSON("false"),
			Doc: "Take the answer as a stream. The judge sees no difference; some gateways cut long answers that are not streamed."},
		{Name: "retries", Type: "number", Default: eval.JSON("4"),
			Doc: "Requests beyond the first, after rate limits, overload, server errors and broken connections; one of them after a timeout."},
		{Name: "structured", Type: "string", Default: text(StructuredAuto),
			Enum: []string{StructuredAuto, StructuredNative, StructuredWords},
			Doc:  "How the model is told which form an answer has: by the API's own means (native), in words, or by the API's means until it refuses them (auto)."},
		{Name: "cache", Type: "string", Default: text(CacheTrial), Enum: []string{CacheOff, CacheTrial, CacheShared},
			Doc: "Which earlier answers may be used again: none (off), those that the same score of the same trial got (trial), or any to the same request (shared)."},
		{Name: "price", Type: "object({ input = number, output = number, cache_read = optional(number), cache_write = optional(number) })",
			Doc: "US dollars for a million tokens. Left out, the engine's list of the vendors' prices counts, where it has the model."},
	}
}

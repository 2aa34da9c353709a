package eval

import (
	"net/url"
	"strings"
)

// Limits are caps of one attempt at a trial. Zero values are no cap.
type Limits struct {
	// Turns is how many answers of its model the agent may have.
	Turns int
	// Tokens is what it may use of them, read and written.
	Tokens int64
	// ToolBytes is how much its tools may return.
	ToolBytes int64
	// USD is what it may cost, where the model's price is known.
	USD float64
}

// Over returns l with what it leaves open taken from base.
func (l Limits) Over(base Limits) Limits {
	if l.Turns == 0 {
		l.Turns = base.Turns
	}
	if l.Tokens == 0 {
		l.Tokens = base.Tokens
	}
	if l.ToolBytes == 0 {
		l.ToolBytes = base.ToolBytes
	}
	if l.USD == 0 {
		l.USD = base.USD
	}
	return l
}

// ProviderConfig is a provider block: what all hosts that ask one provider's
// models may do at once.
type ProviderConfig struct {
	// Name is the provider's [ProviderOf].
	Name string
	// Concurrency is how many trials run at once; 0 is as many as the run has.
	Concurrency int
	// RequestsPerMinute holds back the start of trials while the last minute had
	// as many; 0 is no limit.
	RequestsPerMinute int
	Source            Source
}

// ProviderOf names the provider behind a model's base URL: scheme and host, such
// as https://api.anthropic.com. It is empty for what is no URL.
func ProviderOf(baseURL string) string {
	u, err := url.Parse(baseURL)
	if err != nil || u.Host == "" {
		return ""
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}

package agentout

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// MaxDetail bounds what a fault quotes.
const MaxDetail = 1000

// Fault returns a fault with a bounded detail.
func Fault(cause string, retry eval.Retry, detail string) *eval.Fault {
	return &eval.Fault{Cause: cause, Retry: retry, Detail: Cut(strings.TrimSpace(detail), MaxDetail)}
}

// StatusFault returns the fault behind an HTTP status of the model's provider. A
// 400 stops the host: a setting of the request is wrong; a caller that knows that
// an earlier request went well should weaken it.
func StatusFault(status int, detail string) *eval.Fault {
	cause, retry := eval.CauseUnknown, eval.RetryTrial
	switch {
	case status == 401 || status == 403:
		cause, retry = eval.CauseAuth, eval.RetryStop
	case status == 402 || billing.MatchString(detail):
		cause, retry = eval.CauseBilling, eval.RetryStop
	case status == 404:
		cause, retry = eval.CauseModel, eval.RetryStop
	case status == 408:
		cause = eval.CauseNetwork
	case status == 429:
		cause = eval.CauseRateLimit
	case status >= 400 && status < 500:
		cause, retry = eval.CauseBadRequest, eval.RetryStop
	case status == 503 || status == 529:
		cause = eval.CauseOverloaded
	case status >= 500:
		cause = eval.CauseServer
	}
	f := Fault(cause, retry, detail)
	f.Status = status
	f.RetryAfter = RetryAfter(detail)
	return f
}

var (
	billing    = regexp.MustCompile(`(?i)credit balance|specified API usage limits|insufficient_quota|quota exceeded|exceeded your current quota|billing`)
	retryAfter = regexp.MustCompile(`(?i)(?:try again|retry) (?:in|after) (\d{1,6}(?:\.\d{1,6})?) ?(ms|s|m|sec|seconds?|minutes?)\b`)
	statusText = regexp.MustCompile(`(?i)(?:\bHTTP|\bstatus(?: code)?|API Error)[ :=]{1,3}(?:HTTP[/ ][\d. ]{0,4})?([45]\d\d)\b|\(([45]\d\d)\)`)
)

// RetryAfter finds how long a provider's message asks to wait; 0 where it does
// not.
func RetryAfter(text string) time.Duration {
	m := retryAfter.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0
	}
	unit := time.Second
	switch {
	case m[2] == "ms":
		unit = time.Millisecond
	case strings.HasPrefix(m[2], "m"):
		unit = time.Minute
	}
	return time.Duration(n * float64(unit))
}

// StatusIn finds the HTTP error status that a message names, 0 where it names
// none.
func StatusIn(text string) int {
	m := statusText.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1] + m[2])
	if err != nil {
		return 0
	}
	return n
}

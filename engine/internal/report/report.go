// Package report shows runs to people and machines. It computes nothing that the
// summary does not hold; what a report says, it says of [eval.Summary] and
// [eval.Record] alone.
//
// Text that comes from agents, tools and pages is untrusted: it is stripped of
// control characters and cut before it reaches a terminal.
package report

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/mattn/go-runewidth"

	"github.com/evalengine/evalengine/engine/eval"
)

// Style says how a terminal report may look.
type Style struct {
	Color bool
	// Width in columns; 0 is no terminal: reasons are given whole there, and the
	// rest is laid out for 140.
	Width int
}

func (s Style) width() int {
	if s.Width <= 0 {
		return 140
	}
	return s.Width
}

// most bounds a reason where no terminal does.
const most = 1000

// room is how many columns a reason has after the columns that are used.
func (s Style) room(used int) int {
	if s.Width <= 0 {
		return most
	}
	return max(30, s.Width-used)
}

// reason is why a trial is not passed, without its cause, which stands before it.
func reason(cause, text string) string {
	return strings.TrimPrefix(text, cause+": ")
}

// Codes of the few colours in use.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	dim    = "2"
	bold   = "1"
)

func (s Style) paint(code, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s Style) status(st eval.Status) (mark, code string) {
	switch st {
	case eval.StatusPassed:
		return "✓", green
	case eval.StatusFailed:
		return "✗", red
	case eval.StatusErrored:
		return "!", yellow
	}
	return "-", dim
}

// Line makes untrusted text fit one line of a terminal: control and formatting
// characters gone, white space folded, cut to width columns on whole characters.
func Line(text string, width int) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, head(text, 4*width))
	return runewidth.Truncate(strings.Join(strings.Fields(clean), " "), width, "…")
}

// head cuts text to about n bytes, so that a huge text is not walked through for
// one line of it.
func head(text string, n int) string {
	if n = max(n, 64); len(text) <= n {
		return text
	}
	for n < len(text) && text[n]&0xC0 == 0x80 {
		n++
	}
	return text[:n] + "…"
}

// pad fills text with spaces to width columns.
func pad(text string, width int) string {
	return runewidth.FillRight(text, width)
}

// Duration is d in the two largest units that say something.
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "?"
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// Cost is what a usage cost: "≥" where it is a lower bound, "cost unknown" where
// nothing is known, and empty where nothing was used.
func Cost(u eval.Usage) string {
	switch {
	case u.CostUSD == nil && u.InputTokens+u.OutputTokens == 0:
		return ""
	case u.CostUSD == nil:
		return "cost unknown"
	case u.LowerBound:
		return fmt.Sprintf("≥ $%.4f", *u.CostUSD)
	}
	return fmt.Sprintf("$%.4f", *u.CostUSD)
}

// number is v with as many digits as say something.
func number(v float64) string {
	switch {
	case v == float64(int64(v)) && v < 1e9 && v > -1e9:
		return fmt.Sprintf("%d", int64(v))
	case v >= 100 || v <= -100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10 || v <= -10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func plural(n int, one string) string { return Count(n, one, one+"s") }

// Count is a number with its noun.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func arm(variant, host string) string {
	if variant == "" {
		return host
	}
	return variant + " · " + host
}

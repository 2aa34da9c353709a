package report

import (
	"fmt"
	"io"
	"strings"
)

// mdCell is how many columns a text may take in a cell of a Markdown table.
const mdCell = 300

// mdEscapes are the characters that Markdown gives a meaning within a line, the
// ones that HTML does, and what forges make links and mentions of: a name that an
// agent wrote must not call a person.
var mdEscapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`,
	"|", `\|`, "~", `\~`, "$", `\$`, "!", `\!`, "<", "&lt;", ">", "&gt;", "&", "&amp;",
	"@", "@&#8203;", "#", "#&#8203;", "://", ":&#8203;//", "www.", "www&#8203;.", "WWW.", "WWW&#8203;.",
)

// mdText makes untrusted text fit one line or one table cell of Markdown: it is
// shown as it is and means nothing. It is cut to width columns; 0 is [mdCell].
func mdText(text string, width int) string {
	if width <= 0 {
		width = mdCell
	}
	out := mdEscapes.Replace(Line(text, width))
	digits := strings.TrimLeft(out, "0123456789")
	switch {
	case out == "":
		return ""
	case strings.ContainsRune("-+=#", rune(out[0])):
		return `\` + out
	case len(digits) < len(out) && digits != "" && strings.ContainsRune(".)", rune(digits[0])):
		return out[:len(out)-len(digits)] + `\` + digits
	}
	return out
}

// mdTable writes a table. Cells are Markdown already: untrusted text goes through
// mdText first. A header that ends in a colon is of a column of numbers, which
// stand right; the colon is not shown. An empty table writes nothing.
func mdTable(w io.Writer, header []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	names, rule := make([]string, len(header)), make([]string, len(header))
	for i, h := range header {
		name, number := strings.CutSuffix(h, ":")
		names[i], rule[i] = name, "---"
		if number {
			rule[i] = "---:"
		}
	}
	fmt.Fprintf(w, "| %s |\n| %s |\n", strings.Join(names, " | "), strings.Join(rule, " | "))
	for _, r := range rows {
		fmt.Fprintf(w, "| %s |\n", strings.Join(r, " | "))
	}
	fmt.Fprintln(w)
}

// htmlEscapes are mdEscapes for text within a tag, where a backslash is itself.
var htmlEscapes = strings.NewReplacer(
	"<", "&lt;", ">", "&gt;", "&", "&amp;", `"`, "&#34;", "'", "&#39;", "@", "@&#8203;", "#", "#&#8203;", "://", ":&#8203;//",
)

// mdDetails writes a part that forges fold: summary is untrusted text, body writes
// what is under it.
func mdDetails(w io.Writer, summary string, body func()) {
	fmt.Fprintf(w, "<details><summary>%s</summary>\n\n", htmlEscapes.Replace(Line(summary, mdCell)))
	body()
	fmt.Fprint(w, "</details>\n\n")
}

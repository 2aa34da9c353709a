// Package calibrate holds the scores of judges against labels of people: it reads
// label files and says how far judge and people agree. It reads no run; where to
// enter is [ReadLabels], then [Compare].
package calibrate

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a label file.
const (
	maxLabels = 200_000
	maxLevels = 101
)

// Label is what one person says of one score of one trial: a whole number from 0.
type Label struct {
	Trial, Score, Labeller string
	Value                  int
}

var columns = []string{"trial", "score", "labeller", "value"}

// ReadLabels reads a CSV file with a line of column names: trial, score, labeller
// and value, in any order; other columns are left alone. Values are whole numbers
// from 0 to levels-1. An error says the line.
func ReadLabels(r io.Reader, levels int) ([]Label, error) {
	if levels < 2 || levels > maxLevels {
		return nil, fmt.Errorf("a scale has 2 to %d levels, not %d", maxLevels, levels)
	}
	c := csv.NewReader(r)
	c.TrimLeadingSpace, c.ReuseRecord = true, true
	head, err := c.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty; its first line names the columns " + strings.Join(columns, ", "))
	}
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(head[0], "\xff\xfe") || strings.HasPrefix(head[0], "\xfe\xff") {
		return nil, errors.New("the file is UTF-16; save it as CSV in UTF-8")
	}
	at, err := places(head)
	if err != nil {
		return nil, err
	}
	return readLines(c, at, levels)
}

// places finds the columns by their names.
func places(head []string) (at [4]int, err error) {
	names := make([]string, len(head))
	for i, n := range head {
		names[i] = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(n, "\ufeff")))
	}
	for i, want := range columns {
		at[i] = slices.Index(names, want)
		if at[i] < 0 && len(names) == 1 && strings.ContainsAny(names[0], ";\t") {
			return at, errors.New("line 1: the columns are apart by semicolons or tabs; a CSV file has commas")
		}
		if at[i] >= 0 && slices.Contains(names[at[i]+1:], want) {
			return at, fmt.Errorf("line 1: two columns are named %q", want)
		}
		if at[i] < 0 {
			return at, fmt.Errorf("line 1: no column %q; the columns are %s", want, strings.Join(columns, ", "))
		}
	}
	return at, nil
}

func readLines(c *csv.Reader, at [4]int, levels int) ([]Label, error) {
	var list []Label
	type key struct{ trial, score, labeller string }
	seen := map[key]int{}
	for {
		rec, err := c.Read()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		line, _ := c.FieldPos(0)
		if len(list) == maxLabels {
			return nil, fmt.Errorf("line %d: more than %d labels", line, maxLabels)
		}
		l, err := label(rec, at, levels)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		k := key{l.Trial, l.Score, l.Labeller}
		if first := seen[k]; first > 0 {
			return nil, fmt.Errorf("line %d: %s labels %s of %s a second time, first in line %d", line, l.Labeller, l.Score, l.Trial, first)
		}
		seen[k] = line
		list = append(list, l)
	}
}

func label(rec []string, at [4]int, levels int) (Label, error) {
	var text [4]string
	for i, n := range at {
		text[i] = strings.Clone(strings.TrimSpace(rec[n]))
		if text[i] == "" {
			return Label{}, fmt.Errorf("no %s", columns[i])
		}
	}
	v, err := strconv.Atoi(text[3])
	if err != nil || v < 0 || v >= levels {
		return Label{}, fmt.Errorf("value %.20q is no whole number from 0 to %d; --levels sets the scale", text[3], levels-1)
	}
	return Label{Trial: text[0], Score: text[1], Labeller: text[2], Value: v}, nil
}

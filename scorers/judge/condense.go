package main

import (
	"sort"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/calls"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/internal/tree"
)

// How much of a transcript that does not fit is kept whatever happens.
const (
	firstSteps = 4
	lastSteps  = 8
	// gapSize is what the mark of steps that are left out takes at most.
	gapSize = 400
	// minBody is the least that is shown of a step that is shown at all.
	minBody = 200
)

// show writes the steps within budget bytes, and says what is not there: the rule
// is in docs/judges.md.
func (r *record) show(budget int) (data, note string) {
	total := 0
	for i := range r.steps {
		total += r.size(i)
	}
	if total <= budget {
		if data = r.all(); len(data) <= budget {
			return data, "The transcript has " + text.Count(len(r.steps), "step") + ", all shown whole."
		}
	}
	k := kept{r: r, left: budget, shown: map[int]string{}}
	k.choose()
	return k.write(), k.note(total)
}

func (r *record) all() string {
	var sb strings.Builder
	for i := range r.steps {
		sb.WriteString(r.head(i) + "\n" + r.body(i) + "\n")
	}
	return sb.String()
}

// kept are the steps that are shown of a transcript that does not fit.
type kept struct {
	r     *record
	left  int
	shown map[int]string
	short int
}

// choose keeps first and last steps, then those that failed or are cited, each
// shortened to what lets all of them in; then others from both ends towards the
// middle, as long as there is room.
func (k *kept) choose() {
	must := k.r.must()
	limit := 0
	for _, limit = range [...]int{16_000, 6_000, 2_000, 800, minBody} {
		sum := 0
		for _, i := range must {
			sum += min(k.r.size(i), limit) + gapSize
		}
		if sum <= k.left*3/4 {
			break
		}
	}
	for _, i := range must {
		k.add(i, limit)
	}
	for low, high := 0, len(k.r.steps)-1; low <= high && k.left > gapSize+minBody; low, high = low+1, high-1 {
		k.add(high, max(limit/4, minBody))
		k.add(low, max(limit/4, minBody))
	}
}

// must are the steps that are kept first, the most important ones before the
// others: a call and its result go together.
func (r *record) must() []int {
	var list []int
	seen := map[int]bool{}
	add := func(i int) {
		for _, j := range [...]int{i, r.partner[i]} {
			if j >= 0 && !seen[j] {
				seen[j] = true
				list = append(list, j)
			}
		}
	}
	n := len(r.steps)
	for i := range min(firstSteps, n) {
		add(i)
	}
	for i := range min(lastSteps, n) {
		add(n - 1 - i)
	}
	for _, set := range [...]map[int]bool{r.cited, r.failed} {
		var steps []int
		for i, in := range set {
			if in {
				steps = append(steps, i)
			}
		}
		sort.Sort(sort.Reverse(sort.IntSlice(steps)))
		for _, i := range steps {
			add(i)
		}
	}
	return list
}

// add keeps a step if there is room for it and for a gap beside it.
func (k *kept) add(i, limit int) {
	if _, ok := k.shown[i]; ok {
		return
	}
	if min(k.r.size(i), limit)+gapSize > k.left {
		return
	}
	body := k.r.body(i)
	whole := len(body) <= limit
	line := k.r.head(i) + "\n" + cut(body, limit) + "\n"
	if len(line)+gapSize > k.left {
		return
	}
	if !whole {
		k.short++
	}
	k.left -= len(line) + gapSize
	k.shown[i] = line
}

func (k *kept) write() string {
	var sb strings.Builder
	for i := 0; i < len(k.r.steps); i++ {
		if line, ok := k.shown[i]; ok {
			sb.WriteString(line)
			continue
		}
		from := i
		for i+1 < len(k.r.steps) && k.shown[i+1] == "" {
			i++
		}
		sb.WriteString(tree.Cut(k.r.gap(from, i), gapSize-8) + "\n")
	}
	return sb.String()
}

// gap says what is left out between two steps, both included.
func (r *record) gap(from, to int) string {
	const named = 4
	size := 0
	count := map[string]int{}
	var names []string
	total := 0
	for i := from; i <= to; i++ {
		s := &r.steps[i]
		size += r.size(i)
		if s.Kind != eval.StepToolCall {
			continue
		}
		name := calls.Name(s.Server, s.Tool)
		if count[name] == 0 {
			names = append(names, name)
		}
		count[name]++
		total++
	}
	said := "[" + r.steps[from].ID + " to " + r.steps[to].ID + " left out: " + text.Count(to-from+1, "step") + ", " + text.Int(size) + " characters"
	if total == 0 {
		return said + "]"
	}
	sort.SliceStable(names, func(i, j int) bool { return count[names[i]] > count[names[j]] })
	said += ", of them " + text.Count(total, "call")
	for i, name := range names[:min(named, len(names))] {
		said += [2]string{", ", ": "}[b2i(i == 0)] + inLine(name[:min(len(name), 60)]) + " " + text.Int(count[name])
	}
	if n := len(names) - named; n > 0 {
		said += " and " + text.Count(n, "other tool")
	}
	return said + "]"
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (k *kept) note(total int) string {
	n, shown := len(k.r.steps), len(k.shown)
	return "The transcript has " + text.Count(n, "step") + " of " + text.Int(total) + " characters, which is more than fits. " +
		text.Int(shown) + " are shown, " + text.Int(k.short) + " of them shortened, and " + text.Int(n-shown) +
		" are left out, where the data says so. The first and the last steps are kept, and those that failed or that other scores cite, as far as there is room. " +
		"What is left out is unknown to you: neither assume that it went well nor that it went wrong."
}

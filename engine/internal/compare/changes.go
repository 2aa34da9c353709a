package compare

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// Words of [eval.Change].
const (
	changeTools      = "tools"
	changePrompt     = "prompt"
	changePlugin     = "plugin"
	changeScorer     = "scorer"
	changeParameters = "parameters"
	changeJudgeModel = "judge_model"
	changeAgent      = "agent"
	changeAgentModel = "agent_model"
	changeEngine     = "engine"
	changeFile       = "suite_file"
	changeSetting    = "setting"
	changeCommit     = "commit"
	changeSuite      = "suite"
	changeHost       = "host"
	changeVariant    = "variant"
)

// words in the order of how much they say of a difference.
var words = []string{
	changeHost, changeVariant, changeTools, changePrompt, changeAgentModel, changeAgent, changePlugin, changeScorer, changeParameters, changeJudgeModel,
	changeEngine, changeSetting, changeSuite, changeFile, changeCommit,
}

type changeKey struct{ what, name string }

// Bounds of what a side keeps of what ran.
const (
	maxValues = 8
	maxText   = 2000
)

// made is what made a side's trials.
type made struct {
	sets    map[changeKey]*set
	prompts map[armKey]*set
}

// set is a few different values; more says that there are others.
type set struct {
	values []string
	more   bool
}

func (s *set) add(v string) {
	switch {
	case v == "" || slices.Contains(s.values, v):
	case len(s.values) == maxValues:
		s.more = true
	default:
		s.values = append(s.values, v)
		slices.Sort(s.values)
	}
}

func (s *set) equal(t *set) bool {
	return slices.Equal(s.all(), t.all())
}

func (s *set) all() []string {
	if s == nil {
		return []string{}
	}
	if s.more {
		return append(slices.Clone(s.values), "…")
	}
	return s.values
}

func (s *set) list() string {
	if s == nil {
		return "none"
	}
	return strings.Join(s.all(), " and ")
}

func (m *made) add(what, name, value string) {
	k := changeKey{what, name}
	s := m.sets[k]
	if s == nil {
		s = &set{}
		m.sets[k] = s
	}
	s.add(value)
}

func (m *made) addRun(r *eval.Run) {
	m.add(changeSuite, "", r.Suite)
	if r.GitCommit != "" {
		commit := short(r.GitCommit)
		if r.GitDirty {
			commit += " with changes"
		}
		m.add(changeCommit, "", commit)
	}
	for _, f := range r.Files {
		m.add(changeFile, f.Path, short(f.SHA256))
	}
	for name, v := range r.Vars {
		m.add(changeSetting, "var "+name, v)
	}
	m.add(changeSetting, "timeout", r.Timeout.String())
	m.add(changeSetting, "retries", fmt.Sprint(r.Retries))
	m.add(changeSetting, "concurrency", fmt.Sprint(r.Concurrency))
}

// kinds are the words for the kinds of [eval.Record.Versions].
var kinds = map[string]string{"scorer": changeScorer, "agent": changeAgent}

func (m *made) addRecord(r *eval.Record) {
	for name, v := range r.Versions {
		kind, rest, ok := strings.Cut(name, "/")
		switch word := kinds[kind]; {
		case name == "engine":
			m.add(changeEngine, "", v)
		case word != "":
			m.add(word, rest, v)
		case ok:
			m.add(changePlugin, name, v)
		}
	}
	m.add(changeHost, "", r.Host)
	m.add(changeVariant, "", r.Variant)
	m.add(changeSetting, "driver", r.Driver)
	m.add(changeSetting, "isolation", string(r.Isolation))
	for _, model := range r.Usage.Models {
		m.add(changeAgentModel, r.Host, model)
	}
	for _, s := range r.Scores {
		if s.Judge == nil {
			continue
		}
		for _, model := range s.Judge.Usage.Models {
			m.add(changeJudgeModel, s.Name, model)
		}
	}
	if r.ToolsDigest != "" {
		m.add(changeTools, toolsOf(r), short(r.ToolsDigest))
	}
	if len(r.Prompts) > 0 {
		k := armKey{r.Story, r.Variant, r.Host}
		if m.prompts[k] == nil {
			m.prompts[k] = &set{}
		}
		m.prompts[k].add(prompt(r))
	}
}

// toolsOf names whose tools a trial saw.
func toolsOf(r *eval.Record) string {
	if r.Target != nil {
		return r.Target.Name
	}
	return r.Story
}

func short(digest string) string { return digest[:min(12, len(digest))] }

// prompt is a trial's prompts with the values of its own target taken out, which
// differ from trial to trial.
func prompt(r *eval.Record) string {
	text := strings.Join(r.Prompts, "\n\n")
	if r.Target != nil {
		var values map[string]any
		if json.Unmarshal(r.Target.Values, &values) == nil {
			text = withNames(text, values)
		}
		if len(r.Target.ID) >= shortest {
			text = strings.ReplaceAll(text, r.Target.ID, "${target.id}")
		}
	}
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "… (" + fmt.Sprint(len(text)) + " bytes, digest " + digest(text) + ")"
	}
	return text
}

// shortest is the length of a value that is looked for in a prompt: shorter ones
// stand there by chance.
const shortest = 4

func withNames(text string, values map[string]any) string {
	type named struct{ name, value string }
	var list []named
	for name, v := range values {
		if s, ok := v.(string); ok && len(s) >= shortest {
			list = append(list, named{name, s})
		}
	}
	slices.SortFunc(list, func(a, b named) int {
		if n := len(b.value) - len(a.value); n != 0 {
			return n
		}
		return strings.Compare(a.name, b.name)
	})
	for _, n := range list {
		text = strings.ReplaceAll(text, n.value, "${target."+n.name+"}")
	}
	return text
}

// changes are what differs between the sides beside the trials' values.
func (m *matching) changes() []eval.Change {
	base, head := m.shown(&m.base.made), m.shown(&m.head.made)
	keys := maps.Clone(base)
	maps.Copy(keys, head)
	var out []eval.Change
	for k := range keys {
		if b, h := base[k], head[k]; !b.equal(h) {
			out = append(out, eval.Change{What: k.what, Name: k.name, Base: b.all(), Head: h.all()})
		}
	}
	out = append(append(out, m.promptChanges()...), m.parameterChanges()...)
	slices.SortFunc(out, func(a, b eval.Change) int {
		if n := slices.Index(words, a.What) - slices.Index(words, b.What); n != 0 {
			return n
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

// shown are a side's sets, those of what tells the sides apart under one name.
func (m *matching) shown(from *made) map[changeKey]*set {
	out := map[changeKey]*set{}
	for k, s := range from.sets {
		if k.what == changeAgentModel && m.noHost {
			k.name = ""
		}
		if out[k] == nil {
			out[k] = &set{}
		}
		for _, v := range s.values {
			out[k].add(v)
		}
		out[k].more = out[k].more || s.more
	}
	return out
}

func (m *matching) promptChanges() []eval.Change {
	var out []eval.Change
	at, vary := map[string]int{}, map[string]bool{}
	for _, p := range m.pairs {
		b, h := m.base.made.prompts[p.baseKey], m.head.made.prompts[p.headKey]
		if b == nil || h == nil || b.equal(h) {
			continue
		}
		if len(b.values) > 1 || len(h.values) > 1 {
			vary[p.key.story] = true
			continue
		}
		i, ok := at[p.key.story]
		if !ok {
			i = len(out)
			at[p.key.story] = i
			out = append(out, eval.Change{What: changePrompt, Name: p.key.story})
		}
		c := &out[i]
		c.Base, c.Head = union(c.Base, b.values), union(c.Head, h.values)
	}
	if len(vary) > 0 {
		m.notes = append(m.notes, "prompts differ from trial to trial of one side, so whether they changed is not known: "+few(slices.Sorted(maps.Keys(vary))))
	}
	return out
}

func union(a, b []string) []string {
	for _, v := range b {
		if !slices.Contains(a, v) {
			a = append(a, v)
		}
	}
	return a
}

// parameterChanges are scores whose scorer was given something else.
func (m *matching) parameterChanges() []eval.Change {
	out := m.definitionChanges()
	for k, b := range m.base.parameters {
		if _, known := m.defined(k); known {
			continue
		}
		if h, ok := m.head.parameters[k]; ok && h != b {
			out = append(out, eval.Change{What: changeParameters, Name: k.story + " " + k.score, Base: []string{short(b)}, Head: []string{short(h)}})
		}
	}
	return out
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return short(hex.EncodeToString(sum[:]))
}

package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/engine/diag"
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/ledger"
	"github.com/evalengine/evalengine/engine/internal/plan"
	"github.com/evalengine/evalengine/engine/internal/trial"
)

// errNoGold is for a story whose gold was not recorded.
var errNoGold = errors.New("its gold is not recorded: evalengine gold record")

func moduleName(scorer string) string {
	name, _, _ := strings.Cut(scorer, "/")
	return name
}

// readGolds reads the golds of the plan's stories and says which cannot be used.
func (r *run) readGolds(store *Store) {
	r.golds = map[string]*trial.Gold{}
	for i := range r.s.Stories {
		st := &r.s.Stories[i]
		if st.Gold == nil || !slices.ContainsFunc(r.p.Arms, func(a plan.Arm) bool { return a.Story == st.Name }) {
			continue
		}
		g := r.readGold(store, st)
		r.golds[st.Name] = g
		if g.Stale != "" {
			r.e.o.Logger.Warn("the gold is not used", "story", st.Name, "reason", g.Stale)
		}
	}
}

// readGold is what the scorers of a story are told of its gold. One that was made
// from something else than the story now has is not used at all; grades are left
// out one by one.
func (r *run) readGold(store *Store, st *eval.Story) *trial.Gold {
	k, err := r.keptGold(store, st)
	if err != nil {
		return &trial.Gold{Stale: err.Error()}
	}
	g := k.gold
	grades, err := store.ReadGrades(st.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		g.Stale = "its gold is not graded: evalengine gold score"
	case err != nil:
		g.Stale = err.Error()
	case grades.Gold != k.info.Gold || grades.Floor != k.info.Floor:
		g.Stale = "its gold was recorded again since it was graded: evalengine gold score"
	default:
		r.takeGrades(g, st, grades, k.vars)
	}
	return g
}

// keptGold is the evidence of a story's gold, held against the story as it is now.
type keptGold struct {
	info *eval.GoldInfo
	rec  *eval.Record
	gold *trial.Gold
	vars eval.Vars
}

func (r *run) keptGold(store *Store, st *eval.Story) (*keptGold, error) {
	info, err := store.ReadGold(st.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoGold
	}
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(store.Gold(st.Name), ledger.GoldDir)
	sum, err := ledger.Sum(dir)
	if err == nil && sum != info.Gold {
		err = fmt.Errorf("%s: the record is not the one that gold.json is about", dir)
	}
	if err != nil {
		return nil, err
	}
	k := &keptGold{info: info}
	if k.rec, k.gold, err = trial.ReadGold(dir); err != nil {
		return nil, err
	}
	k.vars = eval.Vars{Target: goldValues(st.Gold, k.rec), Trial: trial.GoldTrial(st.Name)}
	made, err := madeFrom(r.s, st, k.vars.Target)
	if err != nil {
		return nil, err
	}
	if parts := differ(made, info.MadeFrom); len(parts) > 0 {
		return nil, fmt.Errorf("%s changed since the gold was recorded: evalengine gold record, then gold score", inWords(parts))
	}
	return k, nil
}

// inWords says which parts changed.
func inWords(parts []string) string {
	var list []string
	for _, p := range parts {
		list = append(list, changed[p])
	}
	return strings.Join(list, " and ")
}

// takeGrades takes over the grades of those judges that are as they were.
func (r *run) takeGrades(g *trial.Gold, st *eval.Story, grades *eval.GoldGrades, vars eval.Vars) {
	var stale []string
	for i := range st.Uses {
		u := &st.Uses[i]
		if u.Role != eval.RoleJudge {
			continue
		}
		n := slices.IndexFunc(grades.Judges, func(j eval.GoldJudge) bool { return j.Score == u.Name })
		if n < 0 {
			stale = append(stale, u.Name+" did not grade the gold: evalengine gold score")
			continue
		}
		j := &grades.Judges[n]
		switch parts := differ(r.judgeMadeFrom(u, vars), j.MadeFrom); {
		case len(parts) > 0:
			stale = append(stale, fmt.Sprintf("%s: %s changed since the gold was graded: evalengine gold score", u.Name, inWords(parts)))
		case len(j.Gold) == 0:
			stale = append(stale, fmt.Sprintf("%s gave the gold no grade: %s", u.Name, j.Problem))
		case st.Gold.Floor != nil && len(j.Floor) == 0:
			stale = append(stale, fmt.Sprintf("%s gave the floor no grade: %s", u.Name, j.Problem))
		default:
			g.Grades = append(g.Grades, eval.Grade{Score: u.Name, Values: j.Gold})
			if len(j.Floor) > 0 {
				g.Floor = append(g.Floor, eval.Grade{Score: u.Name, Values: j.Floor})
			}
		}
	}
	g.Stale = strings.Join(stale, "; ")
}

// GoldOptions say which golds are recorded or graded.
type GoldOptions struct {
	Store *Store
	// Stories are globs over the names of stories; empty is all with a gold.
	Stories []string
	// Samples is how often each gold and floor is graded; 0 is what the gold says.
	Samples int
	// Observe is told what happens; it may be nil.
	Observe func(Event)
}

// goldStories are the stories with a gold that are chosen.
func goldStories(s *eval.Suite, globs []string) ([]*eval.Story, error) {
	var all, names []string
	for _, st := range s.Stories {
		if st.Gold != nil {
			all = append(all, st.Name)
		}
	}
	names, diags := plan.Match("--story", globs, all)
	if err := diags.Err(); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, diag.Errors("no gold", "No story of the suite has a gold. Add a block gold { ... } to one.")
	}
	var list []*eval.Story
	for _, n := range names {
		list = append(list, s.Story(n))
	}
	return list, nil
}

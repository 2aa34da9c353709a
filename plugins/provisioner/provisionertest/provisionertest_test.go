package provisionertest

import (
	"context"
	"encoding/json"
	"os"
	"reflect"
	"sync"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/provisioner"
)

// TestMain makes the test binary a plugin where it is started as one.
func TestMain(m *testing.M) {
	if os.Getenv("PROVISIONERTEST_PLUGIN") != "" {
		provisioner.Serve(&folders{dirs: map[string]string{}})
		return
	}
	os.Exit(m.Run())
}

// folders is a provisioner whose targets are folders, their state the files'
// names.
type folders struct {
	mu   sync.Mutex
	dirs map[string]string
}

func (f *folders) Describe(context.Context) (eval.Description, error) {
	return eval.Description{Name: "folders", Version: "1", Schema: eval.Schema{Attributes: []eval.Attribute{
		{Name: "broken", Type: "bool", Default: eval.JSON("false")},
	}}}, nil
}

func (f *folders) Provision(ctx context.Context, req eval.ProvisionRequest) (eval.Target, error) {
	var c struct {
		Broken bool `json:"broken"`
	}
	if err := provisioner.Config(req, &c); err != nil {
		return eval.Target{}, err
	}
	if c.Broken {
		return eval.Target{}, &eval.Fault{Cause: eval.CauseProvision, Retry: eval.RetryNever, Detail: "asked to break"}
	}
	if err := ctx.Err(); err != nil {
		return eval.Target{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dirs[req.Nonce] = req.WorkDir
	values, err := json.Marshal(map[string]string{"dir": req.WorkDir})
	return eval.Target{ID: req.Nonce, Values: values}, err
}

func (f *folders) Snapshot(_ context.Context, id string) (eval.JSON, error) {
	f.mu.Lock()
	dir, ok := f.dirs[id]
	f.mu.Unlock()
	if !ok {
		return nil, &eval.Fault{Cause: eval.CauseObserve, Retry: eval.RetryNever, Detail: "no such target"}
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return json.Marshal(names)
}

func (f *folders) Destroy(_ context.Context, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.dirs, id)
	return nil
}

func kit() Kit {
	return Kit{
		Broken: func(_ testing.TB, r *eval.ProvisionRequest) { r.Config = eval.JSON(`{"broken":true}`) },
		Change: func(t testing.TB, target eval.Target) {
			var v struct{ Dir string }
			if err := json.Unmarshal(target.Values, &v); err != nil {
				t.Fatal(err)
			}
			f, err := os.CreateTemp(v.Dir, "")
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
		},
	}
}

func TestKitInProcess(t *testing.T) {
	k := kit()
	k.Provisioner = &folders{dirs: map[string]string{}}
	k.Run(t)
}

func TestKitOnBinary(t *testing.T) {
	k := kit()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	k.Binary, k.Env = self, []string{"PROVISIONERTEST_PLUGIN=1"}
	k.Run(t)
}

func TestTargetProblems(t *testing.T) {
	got := problems(eval.Target{
		Values:  eval.JSON(`[1]`),
		Servers: []eval.Server{{Name: "a", Command: "x", URL: "y"}, {Name: "a", URL: "y"}},
		Secrets: []string{"short"},
	})
	want := []string{
		"the target has no ID",
		"values are no JSON object: [1]",
		`server "a" has not exactly one of command and URL`,
		`server name "a" is empty or there twice`,
		"a secret has 5 bytes: too short to be told from other text",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("problems = %q; want %q", got, want)
	}
}

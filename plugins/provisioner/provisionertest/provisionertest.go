// Package provisionertest is the conformance kit of provisioner plugins: it runs a
// built plugin as the engine does, or a provisioner in this process, and checks
// what the engine relies on. Fill in a [Kit] and call [Kit.Run] from a test of the
// plugin.
package provisionertest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/internal/conform"
	"github.com/evalengine/evalengine/plugins/rpc"
)

// Kit says what to test, and how the provisioner is made to do it.
type Kit struct {
	// Binary is a built plugin, Env its environment; or Provisioner is one in this
	// process.
	Binary      string
	Env         []string
	Provisioner eval.Provisioner
	// Request completes a request, whose Trial, WorkDir and Nonce are set: Config
	// and Env. Nil leaves it as it is.
	Request func(t testing.TB, req *eval.ProvisionRequest)
	// Broken completes a request that cannot be met: Provision is a fault. Nil
	// checks nothing.
	Broken func(t testing.TB, req *eval.ProvisionRequest)
	// Change changes the target's state, as an agent would; nil leaves out the
	// checks that need it.
	Change func(t testing.TB, target eval.Target)
	// Check looks at a fresh target; nil checks no more than the kit does. It is
	// called from several goroutines.
	Check func(t testing.TB, req eval.ProvisionRequest, target eval.Target)
	// Targets is how many are made side by side; 0 is 50.
	Targets int
}

// Run runs all checks as subtests.
func (k Kit) Run(t *testing.T) {
	t.Helper()
	r := &running{Kit: k, prov: k.Provisioner}
	var p *rpc.Process
	if k.Binary != "" {
		p = conform.Start(t, rpc.KindProvisioner, "under-test", k.Binary, k.Env)
		r.prov = p.Provisioner()
	}
	r.children = conform.Children(t, p)
	t.Run("describe", func(t *testing.T) { conform.Description(t, r.prov.Describe) })
	t.Run("target", r.target)
	t.Run("isolation", r.isolation)
	t.Run("destroy", r.destroy)
	t.Run("cancel", r.cancel)
	t.Run("unknown", r.unknown)
	if k.Broken != nil {
		t.Run("fault", r.fault)
	}
	t.Run("side_by_side", r.sideBySide)
}

type running struct {
	Kit
	prov     eval.Provisioner
	children func() []int
}

func (r *running) request(t *testing.T, n int, complete func(testing.TB, *eval.ProvisionRequest)) eval.ProvisionRequest {
	t.Helper()
	req := eval.ProvisionRequest{
		Trial:   eval.Trial{Story: "conformance", Host: "none", Repeat: n + 1},
		WorkDir: t.TempDir(), Nonce: rand.Text(),
	}
	if complete != nil {
		complete(t, &req)
	}
	return req
}

func (r *running) provision(t *testing.T, n int) eval.Target {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), conform.Bound)
	defer cancel()
	target, err := r.prov.Provision(ctx, r.request(t, n, r.Request))
	if err != nil {
		t.Fatalf("Provision: %v", err)
	}
	t.Cleanup(func() { _ = r.prov.Destroy(context.Background(), target.ID) })
	return target
}

func (r *running) snapshot(t *testing.T, id string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), conform.Bound)
	defer cancel()
	state, err := r.prov.Snapshot(ctx, id)
	if err != nil {
		t.Fatalf("Snapshot: %v", err)
	}
	if len(state) == 0 {
		return nil
	}
	var out bytes.Buffer
	if err := json.Compact(&out, state); err != nil {
		t.Fatalf("Snapshot is not JSON: %v", err)
	}
	return out.Bytes()
}

func (r *running) target(t *testing.T) {
	req := r.request(t, 0, r.Request)
	target, err := r.prov.Provision(t.Context(), req)
	if err != nil {
		t.Fatalf("Provision: %v", err)
	}
	defer r.prov.Destroy(context.Background(), target.ID)
	for _, p := range problems(target) {
		t.Error(p)
	}
	if r.Check != nil {
		r.Check(t, req, target)
	}
	before := r.snapshot(t, target.ID)
	if again := r.snapshot(t, target.ID); !bytes.Equal(before, again) {
		t.Errorf("two snapshots of an untouched target differ:\n%s\n%s", before, again)
	}
	if r.Change == nil {
		return
	}
	r.Change(t, target)
	if after := r.snapshot(t, target.ID); bytes.Equal(before, after) {
		t.Errorf("the snapshot does not show the change: %s", after)
	}
}

func problems(t eval.Target) (list []string) {
	add := func(bad bool, format string, args ...any) {
		if bad {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	add(t.ID == "", "the target has no ID")
	var values map[string]any
	if len(t.Values) > 0 {
		add(json.Unmarshal(t.Values, &values) != nil, "values are no JSON object: %s", t.Values)
	}
	names := map[string]bool{}
	for _, s := range t.Servers {
		add(s.Name == "" || names[s.Name], "server name %q is empty or there twice", s.Name)
		names[s.Name] = true
		add((s.Command == "") == (s.URL == ""), "server %q has not exactly one of command and URL", s.Name)
	}
	for _, s := range t.Secrets {
		add(len(s) < 8, "a secret has %d bytes: too short to be told from other text", len(s))
	}
	return list
}

func (r *running) isolation(t *testing.T) {
	a, b := r.provision(t, 0), r.provision(t, 1)
	if a.ID == b.ID {
		t.Fatalf("two targets have the ID %q", a.ID)
	}
	if r.Change == nil {
		return
	}
	before := r.snapshot(t, b.ID)
	r.Change(t, a)
	if after := r.snapshot(t, b.ID); !bytes.Equal(before, after) {
		t.Errorf("a change of one target shows in another:\n%s\n%s", before, after)
	}
	if err := r.prov.Destroy(t.Context(), a.ID); err != nil {
		t.Errorf("Destroy: %v", err)
	}
	if after := r.snapshot(t, b.ID); !bytes.Equal(before, after) {
		t.Errorf("the end of one target shows in another:\n%s\n%s", before, after)
	}
}

func (r *running) destroy(t *testing.T) {
	target := r.provision(t, 0)
	for range 2 {
		if err := r.prov.Destroy(t.Context(), target.ID); err != nil {
			t.Errorf("Destroy: %v", err)
		}
	}
	if _, err := r.prov.Snapshot(t.Context(), target.ID); err == nil {
		t.Error("a destroyed target still has a snapshot")
	}
	conform.NothingLeft(t, r.children)
}

// cancel: a Provision whose context ends leaves nothing.
func (r *running) cancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	target, err := r.prov.Provision(ctx, r.request(t, 0, r.Request))
	if err == nil {
		t.Error("Provision with an ended context gave no error")
		_ = r.prov.Destroy(t.Context(), target.ID)
	}
	conform.NothingLeft(t, r.children)

	ctx, cancel = context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if target, err := r.prov.Provision(ctx, r.request(t, 1, r.Request)); err == nil {
			_ = r.prov.Destroy(context.Background(), target.ID)
		}
	}()
	cancel()
	<-done
	conform.NothingLeft(t, r.children)
}

func (r *running) unknown(t *testing.T) {
	if err := r.prov.Destroy(t.Context(), "no-such-target"); err != nil {
		t.Errorf("Destroy of an unknown target: %v", err)
	}
	_, err := r.prov.Snapshot(t.Context(), "no-such-target")
	conform.Fault(t, "Snapshot of an unknown target", err)
}

func (r *running) fault(t *testing.T) {
	target, err := r.prov.Provision(t.Context(), r.request(t, 0, r.Broken))
	if err == nil {
		_ = r.prov.Destroy(t.Context(), target.ID)
	}
	conform.Fault(t, "a request that cannot be met", err)
	conform.NothingLeft(t, r.children)
}

func (r *running) sideBySide(t *testing.T) {
	n := r.Targets
	if n == 0 {
		n = 50
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*conform.Bound)
	defer cancel()
	var mu sync.Mutex
	ids := map[string]bool{}
	var wg sync.WaitGroup
	for i := range n {
		req := r.request(t, i, r.Request)
		wg.Go(func() {
			target, err := r.prov.Provision(ctx, req)
			if err != nil {
				t.Errorf("target %d of %d: %v", i+1, n, err)
				return
			}
			mu.Lock()
			if ids[target.ID] {
				t.Errorf("the ID %q is there twice", target.ID)
			}
			ids[target.ID] = true
			mu.Unlock()
			if r.Check != nil {
				r.Check(t, req, target)
			}
			if _, err := r.prov.Snapshot(ctx, target.ID); err != nil {
				t.Errorf("target %d of %d: snapshot: %v", i+1, n, err)
			}
			if err := r.prov.Destroy(ctx, target.ID); err != nil {
				t.Errorf("target %d of %d: destroy: %v", i+1, n, err)
			}
		})
	}
	wg.Wait()
	conform.NothingLeft(t, r.children)
}

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evalengine/evalengine/engine"
	"github.com/evalengine/evalengine/engine/eval"
)

// examine looks at everything, or at what the suite of the arguments needs. A suite
// that cannot be loaded, such as for a plugin that is missing, is told as by
// validate, after what there is.
func (a *app) examine(cmd *cobra.Command, f *suiteFlags, args []string) ([]checkup, error) {
	if len(args) == 0 {
		return a.checkups(cmd.Context()), nil
	}
	s, p, err := a.planned(cmd, f, args)
	if err != nil {
		if !a.json {
			a.showCheckups(a.checkups(cmd.Context()))
		}
		return nil, err
	}
	return a.needed(cmd.Context(), s, p), nil
}

func (a *app) planned(cmd *cobra.Command, f *suiteFlags, args []string) (*eval.Suite, *engine.Plan, error) {
	e, err := a.engine(1)
	if err != nil {
		return nil, nil, err
	}
	defer e.Close()
	s, err := f.load(a, cmd, e, args)
	if err != nil {
		return nil, nil, err
	}
	p, diags := e.Plan(s, f.sel)
	return s, p, diags.Err()
}

// needed looks at what the planned trials use.
func (a *app) needed(ctx context.Context, s *eval.Suite, p *engine.Plan) []checkup {
	list := []checkup{a.engineCheckup()}
	if len(p.Needs.Modules) > 0 {
		list = append(list, checkup{Group: "engine", Name: "scorer modules", OK: true, Detail: strings.Join(p.Needs.Modules, ", ")})
	}
	plugins := a.describePlugins(ctx, func(kind, name string) bool {
		if kind == "host" {
			return slices.Contains(p.Needs.Drivers, name)
		}
		return slices.Contains(p.Needs.Provisioners, name)
	})
	models := map[string]*eval.ModelUse{}
	for _, info := range plugins {
		list = append(list, pluginCheckups(info)...)
		if info.Kind == "host" && info.Description != nil {
			models[info.Name] = info.Description.Model
		}
	}
	var seen []string
	for _, arm := range p.Arms {
		h := s.Host(arm.Host)
		if h == nil || slices.Contains(seen, h.Name) {
			continue
		}
		seen = append(seen, h.Name)
		if c, ok := a.hostKey(h, models[h.Driver]); ok {
			list = append(list, c)
		}
	}
	return grouped(list)
}

// hostKey looks at the key of a host's model; not ok where it needs none.
func (a *app) hostKey(h *eval.HostConfig, m *eval.ModelUse) (checkup, bool) {
	var cfg struct {
		BaseURL   string `json:"base_url"`
		APIKeyEnv string `json:"api_key_env"`
	}
	if m == nil || json.Unmarshal(h.Config, &cfg) != nil {
		return checkup{}, false
	}
	name := m.KeyEnv
	if cfg.APIKeyEnv != "" {
		name = cfg.APIKeyEnv
	}
	c := a.keyCheckup(name, "host "+h.Name)
	if !c.OK && (cfg.BaseURL != "" || a.otherLogin(h)) {
		return checkup{}, false // a model server of one's own asks for no key
	}
	return c, name != ""
}

// otherLogin reports whether the agent gets a variable that it can log in with by
// itself.
func (a *app) otherLogin(h *eval.HostConfig) bool {
	return slices.ContainsFunc(h.Env, func(name string) bool {
		v, _ := a.environ(name)
		return v != "" && (strings.HasSuffix(name, "_TOKEN") || strings.HasSuffix(name, "_KEY"))
	})
}

// lacking is an error where something is missing or broken.
func lacking(list []checkup) error {
	var names []string
	for _, c := range list {
		if !c.OK {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("the suite needs what is missing: %s", strings.Join(names, ", "))
}

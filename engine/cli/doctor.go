package cli

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/evalengine/evalengine/engine"
	"github.com/evalengine/evalengine/engine/internal/report"
	"github.com/evalengine/evalengine/scorers"
)

// checkup is one thing that is there or missing.
type checkup struct {
	Group   string `json:"group"`
	Name    string `json:"name"`
	OK      bool   `json:"ok"`
	Version string `json:"version,omitempty"`
	Detail  string `json:"detail,omitempty"`
	// Install is the command that gets what is missing.
	Install string `json:"install,omitempty"`
}

func (a *app) doctorCommand() *cobra.Command {
	sweep := false
	f := &suiteFlags{}
	cmd := &cobra.Command{
		Use:   "doctor [SUITE...]",
		Short: "Say what is installed, what is missing, and how to get it",
		Long: `Say which hosts, plugins, scorer modules, keys and browsers are there, with their
versions, and for what is missing the command that installs it. With a suite it says
so of what the suite needs, and where something of that is missing the exit code is 2.
Nothing is changed unless --sweep is given: then the temporary folders and processes that killed runs
left are removed. Every run does that before it begins.`,
		Example: "  evalengine doctor\n  evalengine doctor suite.hcl",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := a.examine(cmd, f, args)
			if err != nil {
				return err
			}
			if sweep {
				found, err := a.sweep()
				if err != nil {
					return err
				}
				list = append(list, found...)
			}
			if a.json {
				err = a.writeJSON(list)
			} else {
				a.showCheckups(list)
			}
			if err == nil && len(args) > 0 {
				err = lacking(list)
			}
			return err
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&sweep, "sweep", false, "remove what killed runs left")
	return cmd
}

func (a *app) sweep() ([]checkup, error) {
	e, err := a.engine(1)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	var list []checkup
	for _, left := range e.Sweep() {
		list = append(list, checkup{Group: "swept", Name: left.Path, OK: true, Detail: fmt.Sprintf("%d processes ended", len(left.Processes))})
	}
	if store, err := engine.OpenStore(a.store); err == nil {
		golds, err := store.SweepGolds()
		if err != nil {
			return nil, err
		}
		for _, dir := range golds {
			list = append(list, checkup{Group: "swept", Name: dir, OK: true, Detail: "a gold whose recording was killed"})
		}
	}
	if len(list) == 0 {
		list = []checkup{{Group: "swept", Name: "nothing", OK: true, Detail: "no killed run left anything"}}
	}
	return list, nil
}

func (a *app) checkups(ctx context.Context) []checkup {
	list := []checkup{a.engineCheckup(), a.moduleCheckup()}
	plugins := a.describePlugins(ctx, nil)
	if len(plugins) == 0 {
		list = append(list, checkup{Group: "plugins", Name: "plugins", Detail: "none found beside the binary, in .evalengine/plugins or in EVALENGINE_PLUGIN_PATH", Install: "make build"})
	}
	keys := map[string]bool{}
	for _, p := range plugins {
		list = append(list, pluginCheckups(p)...)
		if p.Description == nil {
			continue
		}
		if m := p.Description.Model; m != nil && m.KeyEnv != "" && !keys[m.KeyEnv] {
			keys[m.KeyEnv] = true
			list = append(list, a.keyCheckup(m.KeyEnv, p.Name))
		}
	}
	list = append(list, browser(ctx), program(ctx, "git", "--version", "apt-get install git"), program(ctx, "node", "--version", "apt-get install nodejs npm"))
	return grouped(list)
}

func (a *app) engineCheckup() checkup {
	return checkup{Group: "engine", Name: "evalengine", OK: true, Version: version(), Detail: a.exe}
}

// pluginCheckups are a plugin and the programs that it needs.
func pluginCheckups(p pluginInfo) []checkup {
	list := []checkup{{Group: "plugins", Name: p.Kind + " " + p.Name, OK: p.Error == "", Version: p.Version, Detail: p.Error}}
	if p.Description == nil {
		return list
	}
	for _, n := range p.Description.Needs {
		need := checkup{Group: "programs", Name: n.Name, OK: n.Version != "", Version: n.Version, Detail: n.Path}
		if !need.OK {
			need.Detail, need.Install = "needed by "+p.Kind+" "+p.Name, n.Install
		}
		list = append(list, need)
	}
	return list
}

func grouped(list []checkup) []checkup {
	order := []string{"engine", "plugins", "programs", "keys"}
	slices.SortStableFunc(list, func(a, b checkup) int { return slices.Index(order, a.Group) - slices.Index(order, b.Group) })
	return list
}

func (a *app) moduleCheckup() checkup {
	names := scorers.Names()
	c := checkup{Group: "engine", Name: "scorer modules", OK: len(names) > 0, Detail: strings.Join(names, ", ")}
	if !c.OK {
		c.Detail, c.Install = "this binary was built without them", "make build"
	}
	return c
}

func (a *app) keyCheckup(name, host string) checkup {
	v, _ := a.environ(name)
	c := checkup{Group: "keys", Name: name, OK: v != "", Detail: "set"}
	if !c.OK {
		c.Detail = "not set: " + host + " needs it, or a base_url that wants no key"
		c.Install = "export " + name + "=..."
	}
	return c
}

// browser looks for a Chrome that pages can be captured with.
func browser(ctx context.Context) checkup {
	for _, name := range []string{"chromium", "google-chrome", "chromium-browser", "chrome"} {
		if c := program(ctx, name, "--version", ""); c.OK {
			c.Name = "browser"
			return c
		}
	}
	return checkup{Group: "programs", Name: "browser", Detail: "no Chromium or Chrome: pages cannot be captured", Install: "apt-get install chromium"}
}

// program asks a program on the PATH for its version.
func program(ctx context.Context, name, flag, install string) checkup {
	c := checkup{Group: "programs", Name: name, Install: install}
	path, err := exec.LookPath(name)
	if err != nil {
		c.Detail = "not found"
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, flag).Output()
	if err != nil {
		c.Detail = path + ": " + err.Error()
		return c
	}
	c.OK, c.Detail, c.Install = true, path, ""
	c.Version = report.Line(strings.TrimSpace(string(out)), 60)
	return c
}

func (a *app) showCheckups(list []checkup) {
	group := ""
	for _, c := range list {
		if c.Group != group {
			group = c.Group
			fmt.Fprintf(a.out, "%s\n", group)
		}
		mark := "ok     "
		if !c.OK {
			mark = "missing"
			if c.Group == "plugins" && c.Install == "" {
				mark = "broken " // it is there
			}
		}
		fmt.Fprintf(a.out, "  %s  %-26s %-22s %s\n", mark, c.Name, c.Version, c.Detail)
		if c.Install != "" {
			fmt.Fprintf(a.out, "           get it: %s\n", c.Install)
		}
	}
}

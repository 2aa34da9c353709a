package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/launch"
)

// pluginInfo is one plugin with what it says of itself.
type pluginInfo struct {
	Kind        string            `json:"kind"`
	Name        string            `json:"name"`
	Path        string            `json:"path"`
	Version     string            `json:"version,omitempty"`
	SHA256      string            `json:"sha256,omitempty"`
	Protocol    int               `json:"protocol,omitempty"`
	Error       string            `json:"error,omitempty"`
	Description *eval.Description `json:"description,omitempty"`
}

func (p pluginInfo) protocol() string {
	if p.Protocol == 0 {
		return ""
	}
	return fmt.Sprintf("protocol %d", p.Protocol)
}

func (a *app) pluginCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "plugin", Short: "Look at the plugins that are installed", Example: "  evalengine plugin list", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(&cobra.Command{
		Use: "list", Short: "List plugins with their versions and where they were found", Example: "  evalengine plugin list --json", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list := a.describePlugins(cmd.Context(), nil)
			if a.json {
				return a.writeJSON(list)
			}
			for _, p := range list {
				fmt.Fprintf(a.out, "%-12s %-14s %-10s %-11s %s %s\n", p.Kind, p.Name, p.Version, p.protocol(), relative(p.Path), p.Error)
			}
			return nil
		},
	})
	return cmd
}

// describePlugins starts every plugin that can be found and is wanted, and asks what
// it is; nil wants all.
func (a *app) describePlugins(ctx context.Context, want func(kind, name string) bool) []pluginInfo {
	finder := a.finder()
	pool := launch.New(launch.Options{Finder: finder, Logger: a.logger(), Environ: a.environment})
	defer pool.Close()
	list := []pluginInfo{}
	for _, b := range finder.List() {
		if b.ShadowedBy != "" || want != nil && !want(b.Kind, b.Name) {
			continue
		}
		info := pluginInfo{Kind: b.Kind, Name: b.Name, Path: b.Path}
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		desc, err := describe(ctx, pool, b.Kind, b.Name)
		cancel()
		if err != nil {
			info.Error = err.Error()
			var f *eval.Fault
			if errors.As(err, &f) && f.Detail != "" {
				info.Error = f.Detail
			}
		} else {
			info.Description, info.Version = &desc, desc.Version
			c := pool.Component(b.Kind, b.Name)
			info.SHA256, info.Protocol = c.SHA256, c.Protocol
		}
		list = append(list, info)
	}
	return list
}

func describe(ctx context.Context, pool *launch.Pool, kind, name string) (eval.Description, error) {
	if kind == "host" {
		h, err := pool.Host(ctx, name, "")
		if err != nil {
			return eval.Description{}, err
		}
		return h.Describe(ctx)
	}
	p, err := pool.Provisioner(ctx, name, "")
	if err != nil {
		return eval.Description{}, err
	}
	return p.Describe(ctx)
}

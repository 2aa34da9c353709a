package main

import (
	"context"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/host"
	"github.com/evalengine/evalengine/plugins/internal/mcpclient"
)

const version = "1"

// replay implements [eval.Host].
type replay struct{}

var _ eval.Host = replay{}

// config is the host block's.
type config struct {
	Run     string `json:"run"`
	Trial   string `json:"trial"`
	Host    string `json:"host"`
	Variant string `json:"variant"`
	Repeat  int    `json:"repeat"`
}

func (replay) Describe(context.Context) (eval.Description, error) {
	return eval.Description{
		Name: "replay", Version: version,
		Doc: "Makes the tool calls of a stored trial again.",
		Capabilities: []string{
			eval.CapMultiTurn, eval.CapMCPHTTP, eval.CapNoFolders, eval.CapInProcess, eval.CapReusable,
		},
		Schema: eval.Schema{Attributes: []eval.Attribute{
			{Name: "run", Type: "string", Doc: "Folder of the stored run."},
			{Name: "trial", Type: "string", Doc: "Folder of the stored trial, in place of run."},
			{Name: "host", Type: "string", Doc: "Host of the stored trial; the only one by default."},
			{Name: "variant", Type: "string", Doc: "Variant of the stored trial; the trial's own by default."},
			{Name: "repeat", Type: "number", Doc: "Repeat of the stored trial; the trial's own by default."},
		}},
	}, nil
}

func (replay) Start(ctx context.Context, spec eval.SessionSpec) (eval.Session, error) {
	var c config
	if err := host.Config(spec, &c); err != nil {
		return nil, err
	}
	dir, err := c.find(spec.Trial)
	if err != nil {
		return nil, err
	}
	t, err := read(ctx, dir)
	if err != nil {
		return nil, err
	}
	if spec.Turns > len(t.turns) {
		return nil, fault(eval.RetryNever, "the stored trial %s has %d turns, the story has %d", dir, len(t.turns), spec.Turns)
	}
	client := mcpclient.New("evalengine-replay", spec.Servers)
	return &session{stored: t, client: client, values: newMapping()}, nil
}

package rpc

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/evalengine/evalengine/engine/eval"
	pluginv1 "github.com/evalengine/evalengine/proto/evalengine/plugin/v1"
)

func descriptionToProto(d eval.Description) *pluginv1.DescribeResponse {
	r := &pluginv1.DescribeResponse{
		Name: valid(d.Name), Version: valid(d.Version), Doc: valid(d.Doc),
		Capabilities: validAll(d.Capabilities),
		Schema:       &pluginv1.Schema{Attributes: convertAll(d.Schema.Attributes, attributeToProto)},
		Needs:        convertAll(d.Needs, needToProto),
	}
	if m := d.Model; m != nil {
		r.Model = &pluginv1.ModelUse{
			Api: valid(m.API), DefaultBaseUrl: valid(m.DefaultBaseURL), KeyEnv: valid(m.KeyEnv),
		}
	}
	return r
}

func descriptionFromProto(r *pluginv1.DescribeResponse) eval.Description {
	d := eval.Description{
		Name: r.GetName(), Version: r.GetVersion(), Doc: r.GetDoc(),
		Capabilities: r.GetCapabilities(),
		Schema:       eval.Schema{Attributes: convertAll(r.GetSchema().GetAttributes(), attributeFromProto)},
		Needs:        convertAll(r.GetNeeds(), needFromProto),
	}
	if m := r.GetModel(); m != nil {
		d.Model = &eval.ModelUse{API: m.Api, DefaultBaseURL: m.DefaultBaseUrl, KeyEnv: m.KeyEnv}
	}
	return d
}

func attributeToProto(a eval.Attribute) *pluginv1.Attribute {
	return &pluginv1.Attribute{
		Name: valid(a.Name), Type: valid(a.Type), Required: a.Required, Default: raw(a.Default),
		Doc: valid(a.Doc), Enum: validAll(a.Enum), Secret: a.Secret, Format: valid(a.Format),
	}
}

func attributeFromProto(a *pluginv1.Attribute) eval.Attribute {
	def, _ := wellFormed(a.GetDefault())
	return eval.Attribute{
		Name: a.GetName(), Type: a.GetType(), Required: a.GetRequired(), Default: def,
		Doc: a.GetDoc(), Enum: a.GetEnum(), Secret: a.GetSecret(), Format: a.GetFormat(),
	}
}

func needToProto(n eval.Need) *pluginv1.Need {
	return &pluginv1.Need{
		Name: valid(n.Name), Version: valid(n.Version), Path: valid(n.Path), Install: valid(n.Install),
	}
}

func needFromProto(n *pluginv1.Need) eval.Need {
	return eval.Need{
		Name: n.GetName(), Version: n.GetVersion(), Path: n.GetPath(), Install: n.GetInstall(),
	}
}

// Bounds of what a plugin says of itself.
const (
	maxDescription = 4 << 20
	maxWord        = 300
)

// sane refuses a description that could not be shown: it goes to terminals and into
// records as it is.
func (r *process) sane(d eval.Description) error {
	words := [][2]string{{"name", d.Name}, {"version", d.Version}}
	for _, c := range d.Capabilities {
		words = append(words, [2]string{"capability", c})
	}
	for _, n := range d.Needs {
		words = append(words, [2]string{"need", n.Name}, [2]string{"need", n.Version}, [2]string{"need", n.Path}, [2]string{"need", n.Install})
	}
	for _, w := range words {
		if len(w[1]) > maxWord || strings.ContainsFunc(w[1], unicode.IsControl) {
			return r.fault(eval.RetryNever, "describes itself with the unusable %s %s", w[0], short(w[1]))
		}
	}
	if d.Name == "" {
		return r.fault(eval.RetryNever, "describes itself without a name")
	}
	return nil
}

func short(s string) string {
	if len(s) > 60 {
		return fmt.Sprintf("%q... of %d bytes", strings.ToValidUTF8(s[:60], ""), len(s))
	}
	return fmt.Sprintf("%q", s)
}

package rpc

import (
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
		Doc: valid(a.Doc), Enum: validAll(a.Enum), Secret: a.Secret,
	}
}

func attributeFromProto(a *pluginv1.Attribute) eval.Attribute {
	return eval.Attribute{
		Name: a.GetName(), Type: a.GetType(), Required: a.GetRequired(), Default: fromRaw(a.GetDefault()),
		Doc: a.GetDoc(), Enum: a.GetEnum(), Secret: a.GetSecret(),
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

package rpc

import (
	"github.com/evalengine/evalengine/engine/eval"
	modelv1 "github.com/evalengine/evalengine/proto/evalengine/model/v1"
)

func modelCallToProto(c eval.ModelCall) *modelv1.CompleteRequest {
	return &modelv1.CompleteRequest{
		Model: valid(c.Model), Config: raw(c.Config), Key: valid(c.Key), Request: modelRequestToProto(c.Request),
	}
}

func modelCallFromProto(c *modelv1.CompleteRequest) eval.ModelCall {
	return eval.ModelCall{
		Model: c.GetModel(), Config: fromRaw(c.GetConfig()), Key: c.GetKey(), Request: modelRequestFromProto(c.GetRequest()),
	}
}

func modelRequestToProto(q eval.ModelRequest) *modelv1.Request {
	return &modelv1.Request{
		Model: valid(q.Model), System: valid(q.System), Messages: convertAll(q.Messages, modelMessageToProto),
		Schema: raw(q.Schema), SchemaName: valid(q.SchemaName), Samples: clamp32(q.Samples), MaxTokens: clamp32(q.MaxTokens),
		Temperature: q.Temperature,
	}
}

func modelRequestFromProto(q *modelv1.Request) eval.ModelRequest {
	if q == nil {
		return eval.ModelRequest{}
	}
	return eval.ModelRequest{
		Model: q.Model, System: q.System, Messages: convertAll(q.Messages, modelMessageFromProto),
		Schema: fromRaw(q.Schema), SchemaName: q.SchemaName, Samples: int(q.Samples), MaxTokens: int(q.MaxTokens),
		Temperature: finite(q.Temperature),
	}
}

func modelMessageToProto(m eval.ModelMessage) *modelv1.Message {
	return &modelv1.Message{Role: valid(m.Role), Parts: convertAll(m.Parts, modelPartToProto)}
}

func modelMessageFromProto(m *modelv1.Message) eval.ModelMessage {
	return eval.ModelMessage{Role: m.GetRole(), Parts: convertAll(m.GetParts(), modelPartFromProto)}
}

// modelPartToProto converts a part, which is a picture or a text.
func modelPartToProto(p eval.ModelPart) *modelv1.Part {
	i := p.Image
	if i == nil {
		return &modelv1.Part{Part: &modelv1.Part_Text{Text: valid(p.Text)}}
	}
	return &modelv1.Part{Part: &modelv1.Part_Image{Image: &modelv1.Image{
		Page: valid(i.Page), Gold: i.Gold, Shot: clamp32(i.Shot), Tile: clamp32(i.Tile),
		MediaType: valid(i.MediaType), Sha256: valid(i.SHA256), Data: i.Data,
	}}}
}

func modelPartFromProto(p *modelv1.Part) eval.ModelPart {
	i := p.GetImage()
	if i == nil {
		return eval.ModelPart{Text: p.GetText()}
	}
	return eval.ModelPart{Image: &eval.ModelImage{
		Page: i.Page, Gold: i.Gold, Shot: int(i.Shot), Tile: int(i.Tile), MediaType: i.MediaType, SHA256: i.Sha256, Data: i.Data,
	}}
}

func modelAnswerToProto(a eval.ModelAnswer) *modelv1.Answer {
	return &modelv1.Answer{
		Request: valid(a.Request), Text: valid(a.Text), Stop: valid(string(a.Stop)), Model: valid(a.Model),
		Usage: UsageToProto(a.Usage), Cached: a.Cached,
	}
}

func modelAnswerFromProto(a *modelv1.Answer) eval.ModelAnswer {
	return eval.ModelAnswer{
		Request: a.GetRequest(), Text: a.GetText(), Stop: eval.ModelStop(a.GetStop()), Model: a.GetModel(),
		Usage: UsageFromProto(a.GetUsage()), Cached: a.GetCached(),
	}
}

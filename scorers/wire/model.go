package wire

import "github.com/evalengine/evalengine/engine/eval"

// OpComplete is the capability that takes a model request and gives a reply.
const OpComplete = "model.complete/1"

// AppendModelRequest appends the encoded request to b.
func AppendModelRequest(b []byte, q *eval.ModelRequest) []byte {
	w := writer{out: b}
	w.run(func(w *writer) { writeModelRequest(w, q) })
	return w.out
}

// DecodeModelRequest decodes a model request.
func DecodeModelRequest(b []byte) (*eval.ModelRequest, error) {
	q := &eval.ModelRequest{}
	r := reader{b: b}
	readModelRequest(&r, q)
	return q, r.err
}

// AppendModelReply appends the encoded reply to b.
func AppendModelReply(b []byte, p *eval.ModelReply) []byte {
	w := writer{out: b}
	w.run(func(w *writer) {
		messages(w, 1, writeAnswer, p.Samples)
		w.str(2, p.Failure)
		w.str(3, p.Detail)
	})
	return w.out
}

// DecodeModelReply decodes a reply to a model request.
func DecodeModelReply(b []byte) (*eval.ModelReply, error) {
	p := &eval.ModelReply{}
	r := reader{b: b}
	for r.next() {
		switch r.num {
		case 1:
			p.Samples = add(&r, readAnswer, p.Samples)
		case 2:
			p.Failure = r.str()
		case 3:
			p.Detail = r.str()
		}
	}
	return p, r.err
}

func writeModelRequest(w *writer, q *eval.ModelRequest) {
	w.str(1, q.Model)
	w.str(2, q.System)
	messages(w, 3, writeModelMessage, q.Messages)
	w.bytes(4, q.Schema)
	w.str(5, q.SchemaName)
	w.int(6, q.Samples)
	w.int(7, q.MaxTokens)
	w.doublePtr(8, q.Temperature)
}

func readModelRequest(r *reader, q *eval.ModelRequest) {
	for r.next() {
		switch r.num {
		case 1:
			q.Model = r.str()
		case 2:
			q.System = r.str()
		case 3:
			q.Messages = add(r, readModelMessage, q.Messages)
		case 4:
			q.Schema = r.bytes()
		case 5:
			q.SchemaName = r.str()
		case 6:
			q.Samples = r.int()
		case 7:
			q.MaxTokens = r.int()
		case 8:
			q.Temperature = r.doublePtr()
		}
	}
}

func writeModelMessage(w *writer, m *eval.ModelMessage) {
	w.str(1, m.Role)
	messages(w, 2, writeModelPart, m.Parts)
}

func readModelMessage(r *reader, m *eval.ModelMessage) {
	for r.next() {
		switch r.num {
		case 1:
			m.Role = r.str()
		case 2:
			m.Parts = add(r, readModelPart, m.Parts)
		}
	}
}

func writeModelPart(w *writer, p *eval.ModelPart) {
	if p.Image != nil {
		message(w, 2, writeModelImage, p.Image)
		return
	}
	w.str(1, p.Text)
}

func readModelPart(r *reader, p *eval.ModelPart) {
	for r.next() {
		switch r.num {
		case 1:
			p.Text = r.str()
		case 2:
			p.Image = &eval.ModelImage{}
			sub(r, readModelImage, p.Image)
		}
	}
}

func writeModelImage(w *writer, i *eval.ModelImage) {
	w.str(1, i.Page)
	w.bool(2, i.Gold)
	w.int(3, i.Shot)
	w.int(4, i.Tile)
	w.str(5, i.MediaType)
	w.str(6, i.SHA256)
	w.bytes(7, i.Data)
}

func readModelImage(r *reader, i *eval.ModelImage) {
	for r.next() {
		switch r.num {
		case 1:
			i.Page = r.str()
		case 2:
			i.Gold = r.bool()
		case 3:
			i.Shot = r.int()
		case 4:
			i.Tile = r.int()
		case 5:
			i.MediaType = r.str()
		case 6:
			i.SHA256 = r.str()
		case 7:
			i.Data = r.bytes()
		}
	}
}

func writeAnswer(w *writer, a *eval.ModelAnswer) {
	w.str(1, a.Request)
	w.str(2, a.Text)
	w.str(3, string(a.Stop))
	w.str(4, a.Model)
	message(w, 5, writeUsage, &a.Usage)
	w.bool(6, a.Cached)
}

func readAnswer(r *reader, a *eval.ModelAnswer) {
	for r.next() {
		switch r.num {
		case 1:
			a.Request = r.str()
		case 2:
			a.Text = r.str()
		case 3:
			a.Stop = eval.ModelStop(r.str())
		case 4:
			a.Model = r.str()
		case 5:
			sub(r, readUsage, &a.Usage)
		case 6:
			a.Cached = r.bool()
		}
	}
}

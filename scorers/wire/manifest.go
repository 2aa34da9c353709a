package wire

import "github.com/evalengine/evalengine/engine/eval"

// AppendManifest appends the encoded m to b.
func AppendManifest(b []byte, m *eval.Manifest) []byte {
	w := writer{out: b}
	w.run(func(w *writer) { writeManifest(w, m) })
	return w.out
}

// DecodeManifest decodes a Manifest.
func DecodeManifest(b []byte) (*eval.Manifest, error) {
	m := &eval.Manifest{}
	r := reader{b: b}
	for r.next() {
		switch r.num {
		case 1:
			m.Module = r.str()
		case 2:
			m.Version = r.str()
		case 3:
			m.Scorers = add(&r, readSpec, m.Scorers)
		case 4:
			m.Doc = r.str()
		}
	}
	return m, r.err
}

func writeManifest(w *writer, m *eval.Manifest) {
	w.str(1, m.Module)
	w.str(2, m.Version)
	messages(w, 3, writeSpec, m.Scorers)
	w.str(4, m.Doc)
}

func writeSpec(w *writer, s *eval.ScorerSpec) {
	w.str(1, s.Name)
	w.str(2, string(s.Role))
	w.str(3, string(s.Dimension))
	w.str(4, s.Doc)
	if len(s.Params.Attributes) > 0 {
		message(w, 5, writeSchema, &s.Params)
	}
	for _, p := range s.Needs {
		w.element(6, string(p))
	}
	w.strs(7, s.Capabilities)
	w.str(8, s.Unit)
	w.bool(9, s.LowerIsBetter)
}

func readSpec(r *reader, s *eval.ScorerSpec) {
	for r.next() {
		switch r.num {
		case 1:
			s.Name = r.str()
		case 2:
			s.Role = eval.Role(r.str())
		case 3:
			s.Dimension = eval.Dimension(r.str())
		case 4:
			s.Doc = r.str()
		case 5:
			sub(r, readSchema, &s.Params)
		case 6:
			s.Needs = append(s.Needs, eval.Part(r.str()))
		case 7:
			s.Capabilities = append(s.Capabilities, r.str())
		case 8:
			s.Unit = r.str()
		case 9:
			s.LowerIsBetter = r.bool()
		}
	}
}

func writeSchema(w *writer, s *eval.Schema) { messages(w, 1, writeAttribute, s.Attributes) }

func readSchema(r *reader, s *eval.Schema) {
	for r.next() {
		if r.num == 1 {
			s.Attributes = add(r, readAttribute, s.Attributes)
		}
	}
}

func writeAttribute(w *writer, a *eval.Attribute) {
	w.str(1, a.Name)
	w.str(2, a.Type)
	w.bool(3, a.Required)
	w.bytes(4, a.Default)
	w.str(5, a.Doc)
	w.strs(6, a.Enum)
	w.bool(7, a.Secret)
	w.str(8, a.Format)
}

func readAttribute(r *reader, a *eval.Attribute) {
	for r.next() {
		switch r.num {
		case 1:
			a.Name = r.str()
		case 2:
			a.Type = r.str()
		case 3:
			a.Required = r.bool()
		case 4:
			a.Default = r.bytes()
		case 5:
			a.Doc = r.str()
		case 6:
			a.Enum = append(a.Enum, r.str())
		case 7:
			a.Secret = r.bool()
		case 8:
			a.Format = r.str()
		}
	}
}

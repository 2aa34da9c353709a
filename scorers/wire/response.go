package wire

import "github.com/evalengine/evalengine/engine/eval"

// AppendResponse appends the encoded outputs to b.
func AppendResponse(b []byte, outputs []eval.ScoreOutput) []byte {
	w := writer{out: b}
	w.run(func(w *writer) { messages(w, 1, writeOutput, outputs) })
	return w.out
}

// DecodeResponse decodes a ScoreResponse.
func DecodeResponse(b []byte) ([]eval.ScoreOutput, error) {
	var outputs []eval.ScoreOutput
	r := reader{b: b}
	for r.next() {
		if r.num == 1 {
			outputs = add(&r, readOutput, outputs)
		}
	}
	return outputs, r.err
}

func writeOutput(w *writer, o *eval.ScoreOutput) {
	w.str(1, o.Name)
	w.str(2, string(o.State))
	w.double(3, o.Value)
	w.doublePtr(4, o.Raw)
	w.str(5, o.Unit)
	w.boolPtr(6, o.Passed)
	w.str(7, o.Reason)
	messages(w, 8, writeEvidence, o.Evidence)
	messages(w, 9, writeFinding, o.Findings)
	w.doubles(10, o.Samples)
	w.doublePtr(11, o.StdErr)
}

func readOutput(r *reader, o *eval.ScoreOutput) {
	for r.next() {
		switch r.num {
		case 1:
			o.Name = r.str()
		case 2:
			o.State = eval.ScoreState(r.str())
		case 3:
			o.Value = r.double()
		case 4:
			o.Raw = r.doublePtr()
		case 5:
			o.Unit = r.str()
		case 6:
			v := r.bool()
			o.Passed = &v
		case 7:
			o.Reason = r.str()
		case 8:
			o.Evidence = add(r, readEvidence, o.Evidence)
		case 9:
			o.Findings = add(r, readFinding, o.Findings)
		case 10:
			o.Samples = r.doubles(o.Samples)
		case 11:
			o.StdErr = r.doublePtr()
		}
	}
}

func writeScore(w *writer, s *eval.Score) {
	w.str(1, s.Name)
	w.str(2, s.Scorer)
	w.str(3, string(s.Role))
	w.str(4, string(s.Dimension))
	w.str(5, string(s.State))
	w.doublePtr(6, s.Value)
	w.doublePtr(7, s.Raw)
	w.str(8, s.Unit)
	w.bool(9, s.LowerIsBetter)
	w.boolPtr(10, s.Passed)
	w.str(11, s.Reason)
	messages(w, 12, writeEvidence, s.Evidence)
	w.doubles(13, s.Samples)
	if s.Judge != nil {
		message(w, 14, writeJudgeUse, s.Judge)
	}
	w.doublePtr(15, s.StdErr)
}

func writeJudgeUse(w *writer, j *eval.JudgeUse) {
	message(w, 1, writeUsage, &j.Usage)
	w.strs(2, j.Requests)
	w.bool(3, j.Cached)
}

func readJudgeUse(r *reader, j *eval.JudgeUse) {
	for r.next() {
		switch r.num {
		case 1:
			sub(r, readUsage, &j.Usage)
		case 2:
			j.Requests = append(j.Requests, r.str())
		case 3:
			j.Cached = r.bool()
		}
	}
}

func readScore(r *reader, s *eval.Score) {
	for r.next() {
		switch r.num {
		case 1:
			s.Name = r.str()
		case 2:
			s.Scorer = r.str()
		case 3:
			s.Role = eval.Role(r.str())
		case 4:
			s.Dimension = eval.Dimension(r.str())
		case 5:
			s.State = eval.ScoreState(r.str())
		case 6:
			s.Value = r.doublePtr()
		case 7:
			s.Raw = r.doublePtr()
		case 8:
			s.Unit = r.str()
		case 9:
			s.LowerIsBetter = r.bool()
		case 10:
			v := r.bool()
			s.Passed = &v
		case 11:
			s.Reason = r.str()
		case 12:
			s.Evidence = add(r, readEvidence, s.Evidence)
		case 13:
			s.Samples = r.doubles(s.Samples)
		case 14:
			s.Judge = &eval.JudgeUse{}
			sub(r, readJudgeUse, s.Judge)
		case 15:
			s.StdErr = r.doublePtr()
		}
	}
}

func writeEvidence(w *writer, e *eval.Evidence) {
	w.str(1, e.Step)
	w.str(2, e.Page)
	w.str(3, e.Pointer)
	w.str(4, e.Quote)
}

func readEvidence(r *reader, e *eval.Evidence) {
	for r.next() {
		switch r.num {
		case 1:
			e.Step = r.str()
		case 2:
			e.Page = r.str()
		case 3:
			e.Pointer = r.str()
		case 4:
			e.Quote = r.str()
		}
	}
}

func writeFinding(w *writer, f *eval.Finding) {
	w.str(1, f.Kind)
	w.str(2, f.Tool)
	w.str(3, string(f.Severity))
	w.str(4, f.Text)
	messages(w, 5, writeEvidence, f.Evidence)
	w.str(6, f.Suggestion)
	w.str(7, f.Source)
	w.str(8, f.Fingerprint)
	w.bool(9, f.Unverified)
	w.str(10, f.Action)
}

func readFinding(r *reader, f *eval.Finding) {
	for r.next() {
		switch r.num {
		case 1:
			f.Kind = r.str()
		case 2:
			f.Tool = r.str()
		case 3:
			f.Severity = eval.Severity(r.str())
		case 4:
			f.Text = r.str()
		case 5:
			f.Evidence = add(r, readEvidence, f.Evidence)
		case 6:
			f.Suggestion = r.str()
		case 7:
			f.Source = r.str()
		case 8:
			f.Fingerprint = r.str()
		case 9:
			f.Unverified = r.bool()
		case 10:
			f.Action = r.str()
		}
	}
}

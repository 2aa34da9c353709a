package wire

import "github.com/evalengine/evalengine/engine/eval"

func writeStep(w *writer, s *eval.Step) {
	w.str(1, s.ID)
	w.int(2, s.Turn)
	w.str(3, string(s.Kind))
	w.str(4, s.Role)
	w.str(5, s.Text)
	w.str(6, s.CallID)
	w.str(7, s.Server)
	w.str(8, s.Tool)
	w.bytes(9, s.Arguments)
	w.bool(10, s.BadArguments)
	w.bytes(11, s.Result)
	w.bool(12, s.IsError)
	w.int64(13, s.Bytes)
	w.bool(14, s.Truncated)
	w.str(15, string(s.Observed))
	w.str(16, s.Parent)
	w.double(17, s.AtMS)
	w.doublePtr(18, s.DurationMS)
	w.str(19, s.Model)
}

func readStep(r *reader, s *eval.Step) {
	for r.next() {
		switch r.num {
		case 1:
			s.ID = r.str()
		case 2:
			s.Turn = r.int()
		case 3:
			s.Kind = eval.StepKind(r.str())
		case 4:
			s.Role = r.str()
		case 5:
			s.Text = r.str()
		case 6:
			s.CallID = r.str()
		case 7:
			s.Server = r.str()
		case 8:
			s.Tool = r.str()
		case 9:
			s.Arguments = r.bytes()
		case 10:
			s.BadArguments = r.bool()
		case 11:
			s.Result = r.bytes()
		case 12:
			s.IsError = r.bool()
		case 13:
			s.Bytes = r.int64()
		case 14:
			s.Truncated = r.bool()
		case 15:
			s.Observed = eval.Observation(r.str())
		case 16:
			s.Parent = r.str()
		case 17:
			s.AtMS = r.double()
		case 18:
			s.DurationMS = r.doublePtr()
		case 19:
			s.Model = r.str()
		}
	}
}

func writeTool(w *writer, t *eval.Tool) {
	w.str(1, t.Server)
	w.str(2, t.Name)
	w.str(3, t.Description)
	w.bytes(4, t.InputSchema)
	w.bytes(5, t.Annotations)
	w.strs(6, t.Requires)
	w.bool(7, t.Destructive)
}

func readTool(r *reader, t *eval.Tool) {
	for r.next() {
		switch r.num {
		case 1:
			t.Server = r.str()
		case 2:
			t.Name = r.str()
		case 3:
			t.Description = r.str()
		case 4:
			t.InputSchema = r.bytes()
		case 5:
			t.Annotations = r.bytes()
		case 6:
			t.Requires = append(t.Requires, r.str())
		case 7:
			t.Destructive = r.bool()
		}
	}
}

func writeUsage(w *writer, u *eval.Usage) {
	w.int(1, u.Turns)
	w.int(2, u.Requests)
	w.int64(3, u.InputTokens)
	w.int64(4, u.CacheReadTokens)
	w.int64(5, u.CacheWriteTokens)
	w.int64(6, u.OutputTokens)
	w.int64(7, u.ReasoningTokens)
	w.doublePtr(8, u.CostUSD)
	w.bool(9, u.LowerBound)
	w.str(10, u.Source)
	w.strs(11, u.Models)
}

func readUsage(r *reader, u *eval.Usage) {
	for r.next() {
		switch r.num {
		case 1:
			u.Turns = r.int()
		case 2:
			u.Requests = r.int()
		case 3:
			u.InputTokens = r.int64()
		case 4:
			u.CacheReadTokens = r.int64()
		case 5:
			u.CacheWriteTokens = r.int64()
		case 6:
			u.OutputTokens = r.int64()
		case 7:
			u.ReasoningTokens = r.int64()
		case 8:
			u.CostUSD = r.doublePtr()
		case 9:
			u.LowerBound = r.bool()
		case 10:
			u.Source = r.str()
		case 11:
			u.Models = append(u.Models, r.str())
		}
	}
}

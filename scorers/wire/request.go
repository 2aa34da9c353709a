package wire

import "github.com/evalengine/evalengine/engine/eval"

// Parts is a set of [eval.Part]: what of a trial crosses to a module.
type Parts uint16

// AllParts is every part.
const AllParts = Parts(1<<10 - 1)

var partNames = [...]eval.Part{
	eval.PartTranscript, eval.PartAnswer, eval.PartState, eval.PartTools, eval.PartPagesHTML,
	eval.PartPagesImage, eval.PartGold, eval.PartScores, eval.PartFiles, eval.PartPages,
}

const (
	transcript Parts = 1 << iota
	answer
	state
	tools
	pagesHTML
	pagesImage
	gold
	scores
	files
	pages
)

// KnownPart reports whether p is a part that this package knows.
func KnownPart(p eval.Part) bool { return PartsOf([]eval.Part{p}) != 0 }

// PartsOf returns the set of the parts in list; unknown ones are ignored.
func PartsOf(list []eval.Part) Parts {
	var set Parts
	for _, p := range list {
		for i, name := range partNames {
			if p == name {
				set |= 1 << i
			}
		}
	}
	return set
}

// AppendRequest appends the encoded in to b, with the parts in want alone.
func AppendRequest(b []byte, in *eval.ScoreInput, want Parts) []byte {
	w := writer{out: b}
	w.run(func(w *writer) { writeRequest(w, in, want) })
	return w.out
}

// RequestSegments encodes in with the parts in want alone, as pieces that make
// up the message when written one after the other. Values of at least cut bytes
// are pieces of their own that share in's memory: they must not be changed.
func RequestSegments(in *eval.ScoreInput, want Parts, cut int) [][]byte {
	w := writer{cut: max(cut, 1)}
	w.run(func(w *writer) { writeRequest(w, in, want) })
	w.flush()
	return w.segments
}

// DecodeRequest decodes a ScoreRequest.
func DecodeRequest(b []byte) (*eval.ScoreInput, error) {
	in := &eval.ScoreInput{}
	r := reader{b: b}
	// Only the steps are many.
	if n := r.count(3); n > 0 {
		in.Steps = make([]eval.Step, 0, n)
	}
	for r.next() {
		switch r.num {
		case 1:
			sub(&r, readTrial, &in.Trial)
		case 2:
			in.Uses = add(&r, readUse, in.Uses)
		case 3:
			in.Steps = add(&r, readStep, in.Steps)
		case 4:
			in.Answer = r.str()
		case 5:
			in.StateBefore = r.bytes()
		case 6:
			in.State = r.bytes()
		case 7:
			in.Tools = add(&r, readTool, in.Tools)
		case 8:
			sub(&r, readUsage, &in.Usage)
		case 9:
			in.Pages = add(&r, readPage, in.Pages)
		case 10:
			in.HostCapabilities = append(in.HostCapabilities, r.str())
		case 11:
			in.Prompts = append(in.Prompts, r.str())
		case 12:
			in.Outcome = eval.Outcome(r.str())
		case 13:
			in.AgentSeconds = r.double()
		case 14:
			in.Target = r.bytes()
		case 15:
			in.Scores = add(&r, readScore, in.Scores)
		case 16:
			sub(&r, readGold, in)
		}
	}
	return in, r.err
}

func writeRequest(w *writer, in *eval.ScoreInput, want Parts) {
	message(w, 1, writeTrial, &in.Trial)
	messages(w, 2, writeUse, in.Uses)
	if want&transcript != 0 {
		messages(w, 3, writeStep, in.Steps)
	}
	if want&answer != 0 {
		w.str(4, in.Answer)
	}
	if want&state != 0 {
		w.bytes(5, in.StateBefore)
		w.bytes(6, in.State)
	}
	if want&tools != 0 {
		messages(w, 7, writeTool, in.Tools)
	}
	message(w, 8, writeUsage, &in.Usage)
	writePages(w, 9, in.Pages, want)
	w.strs(10, in.HostCapabilities)
	w.strs(11, in.Prompts)
	w.str(12, string(in.Outcome))
	w.double(13, in.AgentSeconds)
	w.bytes(14, in.Target)
	if want&scores != 0 {
		messages(w, 15, writeScore, in.Scores)
	}
	if want&gold != 0 && hasGold(in) {
		message(w, 16, func(w *writer, in *eval.ScoreInput) { writeGold(w, in, want) }, in)
	}
}

func hasGold(in *eval.ScoreInput) bool {
	return len(in.GoldState) > 0 || len(in.GoldPages) > 0 || len(in.GoldGrades) > 0 || len(in.FloorGrades) > 0 || in.GoldStale != "" || in.GoldTrial != ""
}

// writeGold writes the gold's pages with the parts that are wanted of the
// trial's, or at least what is known of them.
func writeGold(w *writer, in *eval.ScoreInput, want Parts) {
	w.bytes(1, in.GoldState)
	writePages(w, 2, in.GoldPages, want|pages)
	messages(w, 3, writeGrade, in.GoldGrades)
	messages(w, 4, writeGrade, in.FloorGrades)
	w.str(5, in.GoldStale)
	w.str(6, in.GoldTrial)
}

func readGold(r *reader, in *eval.ScoreInput) {
	for r.next() {
		switch r.num {
		case 1:
			in.GoldState = r.bytes()
		case 2:
			in.GoldPages = add(r, readPage, in.GoldPages)
		case 3:
			in.GoldGrades = add(r, readGrade, in.GoldGrades)
		case 4:
			in.FloorGrades = add(r, readGrade, in.FloorGrades)
		case 5:
			in.GoldStale = r.str()
		case 6:
			in.GoldTrial = r.str()
		}
	}
}

func writeGrade(w *writer, g *eval.Grade) {
	w.str(1, g.Score)
	w.doubles(2, g.Values)
}

func readGrade(r *reader, g *eval.Grade) {
	for r.next() {
		switch r.num {
		case 1:
			g.Score = r.str()
		case 2:
			g.Values = r.doubles(g.Values)
		}
	}
}

func writeTrial(w *writer, t *eval.Trial) {
	w.str(1, t.Story)
	w.str(2, t.Variant)
	w.str(3, t.Host)
	w.int(4, t.Repeat)
}

func readTrial(r *reader, t *eval.Trial) {
	for r.next() {
		switch r.num {
		case 1:
			t.Story = r.str()
		case 2:
			t.Variant = r.str()
		case 3:
			t.Host = r.str()
		case 4:
			t.Repeat = r.int()
		}
	}
}

func writeUse(w *writer, u *eval.Use) {
	w.str(1, u.Name)
	w.str(2, u.Scorer)
	w.bytes(3, u.Params)
	w.strs(4, u.Models)
}

func readUse(r *reader, u *eval.Use) {
	for r.next() {
		switch r.num {
		case 1:
			u.Name = r.str()
		case 2:
			u.Scorer = r.str()
		case 3:
			u.Params = r.bytes()
		case 4:
			u.Models = append(u.Models, r.str())
		}
	}
}

package wire

import "github.com/evalengine/evalengine/engine/eval"

// Parts is a set of [eval.Part]: what of a trial crosses to a module.
type Parts uint16

// AllParts is every part.
const AllParts = Parts(1<<9 - 1)

var partNames = [...]eval.Part{
	eval.PartTranscript, eval.PartAnswer, eval.PartState, eval.PartTools, eval.PartPagesHTML,
	eval.PartPagesImage, eval.PartGold, eval.PartScores, eval.PartFiles,
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
	if want&gold != 0 && (len(in.GoldState) > 0 || len(in.GoldPages) > 0) {
		message(w, 16, func(w *writer, in *eval.ScoreInput) {
			w.bytes(1, in.GoldState)
			writePages(w, 2, in.GoldPages, want|pagesHTML|pagesImage)
		}, in)
	}
}

func readGold(r *reader, in *eval.ScoreInput) {
	for r.next() {
		switch r.num {
		case 1:
			in.GoldState = r.bytes()
		case 2:
			in.GoldPages = add(r, readPage, in.GoldPages)
		}
	}
}

func writePages(w *writer, num int, pages []eval.Page, want Parts) {
	if want&(pagesHTML|pagesImage) == 0 {
		return
	}
	messages(w, num, func(w *writer, p *eval.Page) {
		w.str(1, p.Name)
		w.str(2, p.URL)
		w.str(3, p.Title)
		w.int(4, p.Status)
		if want&pagesHTML != 0 {
			w.bytes(5, p.HTML)
		}
		if want&pagesImage != 0 {
			w.bytes(6, p.Image)
		}
	}, pages)
}

func readPage(r *reader, p *eval.Page) {
	for r.next() {
		switch r.num {
		case 1:
			p.Name = r.str()
		case 2:
			p.URL = r.str()
		case 3:
			p.Title = r.str()
		case 4:
			p.Status = r.int()
		case 5:
			p.HTML = r.bytes()
		case 6:
			p.Image = r.bytes()
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
	w.str(4, u.Model)
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
			u.Model = r.str()
		}
	}
}

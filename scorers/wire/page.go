package wire

import "github.com/evalengine/evalengine/engine/eval"

func writePages(w *writer, num int, list []eval.Page, want Parts) {
	if want&(pages|pagesHTML|pagesImage) == 0 {
		return
	}
	messages(w, num, func(w *writer, p *eval.Page) {
		message(w, 1, writePage, p)
		if want&pagesHTML != 0 {
			w.bytes(2, p.HTML)
			w.bytes(3, p.Accessibility)
		}
		if want&pagesImage == 0 {
			return
		}
		for i := range p.Shots {
			for j := range p.Shots[i].Tiles {
				w.bytesAlways(4, p.Shots[i].Tiles[j].PNG)
			}
		}
	}, list)
}

func readPage(r *reader, p *eval.Page) {
	var images [][]byte
	for r.next() {
		switch r.num {
		case 1:
			sub(r, readFacts, p)
		case 2:
			p.HTML = r.bytes()
		case 3:
			p.Accessibility = r.bytes()
		case 4:
			images = append(images, r.bytes())
		}
	}
	for i := range p.Shots {
		for j := range p.Shots[i].Tiles {
			if len(images) == 0 {
				return
			}
			if len(images[0]) > 0 {
				p.Shots[i].Tiles[j].PNG = images[0]
			}
			images = images[1:]
		}
	}
}

func writePage(w *writer, p *eval.Page) {
	w.str(1, p.Name)
	w.str(2, p.URL)
	w.str(3, p.FinalURL)
	w.str(4, p.Title)
	w.int(5, p.Status)
	messages(w, 6, writeShot, p.Shots)
	messages(w, 7, writeConsole, p.Console)
	messages(w, 8, writeFailed, p.Failed)
	w.int(9, p.Requests)
	w.int64(10, p.Bytes)
	w.strs(11, p.Unsettled)
	w.str(12, p.Error)
	w.double(13, p.Seconds)
}

func readFacts(r *reader, p *eval.Page) {
	for r.next() {
		switch r.num {
		case 1:
			p.Name = r.str()
		case 2:
			p.URL = r.str()
		case 3:
			p.FinalURL = r.str()
		case 4:
			p.Title = r.str()
		case 5:
			p.Status = r.int()
		case 6:
			p.Shots = add(r, readShot, p.Shots)
		case 7:
			p.Console = add(r, readConsole, p.Console)
		case 8:
			p.Failed = add(r, readFailed, p.Failed)
		case 9:
			p.Requests = r.int()
		case 10:
			p.Bytes = r.int64()
		case 11:
			p.Unsettled = append(p.Unsettled, r.str())
		case 12:
			p.Error = r.str()
		case 13:
			p.Seconds = r.double()
		}
	}
}

func writeShot(w *writer, s *eval.Shot) {
	message(w, 1, writeViewport, &s.Viewport)
	w.double(2, s.Scale)
	w.int(3, s.Height)
	w.int(4, s.Covered)
	messages(w, 5, writeTile, s.Tiles)
}

func readShot(r *reader, s *eval.Shot) {
	for r.next() {
		switch r.num {
		case 1:
			sub(r, readViewport, &s.Viewport)
		case 2:
			s.Scale = r.double()
		case 3:
			s.Height = r.int()
		case 4:
			s.Covered = r.int()
		case 5:
			s.Tiles = add(r, readTile, s.Tiles)
		}
	}
}

func writeViewport(w *writer, v *eval.Viewport) {
	w.int(1, v.Width)
	w.int(2, v.Height)
}

func readViewport(r *reader, v *eval.Viewport) {
	for r.next() {
		switch r.num {
		case 1:
			v.Width = r.int()
		case 2:
			v.Height = r.int()
		}
	}
}

func writeTile(w *writer, t *eval.Tile) {
	w.int(1, t.Y)
	w.int(2, t.Width)
	w.int(3, t.Height)
	w.str(4, t.File)
	w.str(5, t.SHA256)
}

func readTile(r *reader, t *eval.Tile) {
	for r.next() {
		switch r.num {
		case 1:
			t.Y = r.int()
		case 2:
			t.Width = r.int()
		case 3:
			t.Height = r.int()
		case 4:
			t.File = r.str()
		case 5:
			t.SHA256 = r.str()
		}
	}
}

func writeConsole(w *writer, m *eval.ConsoleMessage) {
	w.str(1, m.Level)
	w.str(2, m.Text)
	w.str(3, m.URL)
	w.int(4, m.Line)
}

func readConsole(r *reader, m *eval.ConsoleMessage) {
	for r.next() {
		switch r.num {
		case 1:
			m.Level = r.str()
		case 2:
			m.Text = r.str()
		case 3:
			m.URL = r.str()
		case 4:
			m.Line = r.int()
		}
	}
}

func writeFailed(w *writer, f *eval.FailedRequest) {
	w.str(1, f.URL)
	w.str(2, f.Method)
	w.str(3, f.Kind)
	w.int(4, f.Status)
	w.str(5, f.Error)
	w.bool(6, f.Blocked)
}

func readFailed(r *reader, f *eval.FailedRequest) {
	for r.next() {
		switch r.num {
		case 1:
			f.URL = r.str()
		case 2:
			f.Method = r.str()
		case 3:
			f.Kind = r.str()
		case 4:
			f.Status = r.int()
		case 5:
			f.Error = r.str()
		case 6:
			f.Blocked = r.bool()
		}
	}
}

package binary

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func section(id byte, body ...byte) []byte { return AppendSection(nil, id, body) }

func file(sections ...[]byte) []byte {
	return append([]byte(Header), bytes.Join(sections, nil)...)
}

// small is a module with a bit of everything.
func small() []byte {
	return file(
		AppendCustom(nil, "note", []byte("hello")),
		section(SectionType, 2, 0x60, 0, 0, 0x60, 1, I32, 1, I64),
		section(SectionImport, 1, 1, 'm', 1, 'f', KindFunc, 1),
		section(SectionFunction, 1, 0),
		section(SectionTable, 1, FuncRef, 1, 1, 8),
		section(SectionMemory, 1, 0, 2),
		section(SectionGlobal, 2, I32, 1, 0x41, 5, 0x0b, F64, 0, 0x44, 0, 0, 0, 0, 0, 0, 0, 0, 0x0b),
		section(SectionExport, 1, 1, 'e', KindFunc, 1),
		section(SectionElement, 1, 0, 0x41, 0, 0x0b, 1, 1),
		section(SectionCode, 1, 4, 1, 1, I32, 0x0b),
		section(SectionData, 1, 0, 0x41, 0x80, 0x01, 0x0b, 2, 'h', 'i'),
	)
}

func TestParse(t *testing.T) {
	m, err := Parse(small())
	if err != nil {
		t.Fatal(err)
	}
	if note, ok := m.Custom("note"); string(note) != "hello" || !ok {
		t.Errorf("custom section: %q, %v", note, ok)
	}
	if got, ok := m.FuncType(0); got.String() != "(i32) -> (i64)" || !ok {
		t.Errorf("type of the import: %v", got)
	}
	if got, ok := m.FuncType(m.Export("e").Index); got.String() != "() -> ()" || !ok {
		t.Errorf("type of export e: %v", got)
	}
	if _, ok := m.FuncType(2); ok {
		t.Error("function 2 has a type")
	}
	if m.Memory.Min != 2 || m.Memory.HasMax || len(m.Globals) != 2 || !m.Globals[0].Mutable || m.Globals[1].Mutable {
		t.Errorf("memory %+v, globals %+v", m.Memory, m.Globals)
	}
	memory := make([]byte, 2*PageSize)
	if !m.InitialMemory() {
		t.Fatal("the data is not plain")
	}
	if m.Fill(memory); string(memory[127:131]) != "\x00hi\x00" {
		t.Errorf("memory at 127: %q", memory[127:131])
	}
	if traits, err := m.CheckCode(); err != nil || !traits.Restorable || !traits.PlainData {
		t.Errorf("traits %+v, %v", traits, err)
	}
}

func TestClean(t *testing.T) {
	m, err := Parse(small())
	if err != nil {
		t.Fatal(err)
	}
	for _, dropData := range []bool{false, true} {
		clean := m.Clean(dropData)
		if !bytes.Contains(clean, []byte(GlobalName(0))) || bytes.Contains(clean, []byte(GlobalName(1))) {
			t.Errorf("dropData %v: the mutable global is not exported alone", dropData)
		}
		if bytes.Contains(clean, []byte("hello")) || bytes.Contains(clean, []byte("hi")) == dropData {
			t.Errorf("dropData %v: it holds what it should not, or not what it should", dropData)
		}
		if _, err := Parse(clean); err == nil || !strings.Contains(err.Error(), "the name is the engine's") {
			t.Errorf("a module with the engine's exports: %v; want an error", err)
		}
	}
	if got := m.Without("other"); !bytes.Equal(got, small()) {
		t.Errorf("Without another section:\n got %q\nwant %q", got, small())
	}
	if got := m.Without("note"); bytes.Contains(got, []byte("note")) || len(got) != len(small())-12 {
		t.Errorf("Without note: %q", got)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, test := range []struct {
		name string
		file []byte
		want string
	}{
		{"version", []byte("\x00asm\x02\x00\x00\x00"), "version 02000000"},
		{"half a header", []byte("\x00asm"), "truncated"},
		{"section longer than the file", file([]byte{SectionType, 9, 0}), "truncated"},
		{"unknown section", file(section(13)), "unknown section 13"},
		{"order", file(section(SectionMemory, 0), section(SectionType, 0)), "type section: out of order"},
		{"twice", file(section(SectionType, 0), section(SectionType, 0)), "out of order or twice"},
		{"bytes left", file(section(SectionType, 0, 1)), "1 bytes too many"},
		{"bodies", file(section(SectionType, 1, 0x60, 0, 0), section(SectionFunction, 1, 0)), "1 functions and 0 bodies"},
		{"shared memory", file(section(SectionMemory, 1, 3, 1, 1)), "shared and 64-bit memories"},
		{"two memories", file(section(SectionMemory, 2, 0, 1, 0, 1)), "at most 1 are allowed"},
		{"large table", file(section(SectionTable, 1, FuncRef, 0, 0xff, 0xff, 0xff, 0x0f)), "at most 1000000 are allowed"},
		{"long number", file([]byte{SectionType, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}), "malformed number"},
		{"value type", file(section(SectionType, 1, 0x60, 1, 0x11, 0)), "unknown value type 0x11"},
		{"computed offset", file(section(SectionData, 1, 0, 0x41, 0, 0x41, 0, 0x6a, 0x0b, 0)), "more than one instruction"},
		{"kind of import", file(section(SectionImport, 1, 0, 0, 9)), "unknown kind of import"},
		{"name", file(section(SectionExport, 1, 0xff, 0xff, 0x7f)), "name of"},
	} {
		if _, err := Parse(test.file); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v; want %q", test.name, err, test.want)
		}
	}
	if _, err := Parse([]byte("MZ")); !errors.Is(err, ErrNotWasm) {
		t.Errorf("got %v; want ErrNotWasm", err)
	}
}

func TestTraits(t *testing.T) {
	for _, test := range []struct {
		name string
		body []byte
		want Traits
	}{
		{"plain", []byte{0x01}, Traits{true, true}},
		{"table.set", []byte{0x26, 0}, Traits{false, true}},
		{"table.get", []byte{0x25, 0}, Traits{true, true}},
		{"table.fill", []byte{0xfc, 17, 0}, Traits{false, true}},
		{"table.size", []byte{0xfc, 16, 0}, Traits{true, true}},
		{"elem.drop", []byte{0xfc, 13, 0}, Traits{false, true}},
		{"memory.init", []byte{0xfc, 8, 0, 0}, Traits{true, false}},
		{"data.drop", []byte{0xfc, 9, 0}, Traits{false, false}},
		{"memory.copy", []byte{0xfc, 10, 0, 0}, Traits{true, true}},
		{"vectors", []byte{0xfd, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0xfd, 21, 3, 0xfd, 84, 0, 0, 1,
			0xfd, 0xae, 0x01, 0xfd, 0, 4, 4, 0xfd, 93, 3, 4}, Traits{true, true}},
		{"all shapes", []byte{0x02, 0x40, 0x03, 0x7f, 0x04, 0x40, 0x05, 0x0b, 0x0b, 0x0c, 0, 0x0b, 0x0e, 1, 0, 0, 0x11, 0, 0,
			0x1c, 1, 0x7f, 0x42, 0x80, 0x7f, 0x43, 1, 2, 3, 4, 0x44, 1, 2, 3, 4, 5, 6, 7, 8, 0x3f, 0, 0xd0, 0x70, 0xd1, 0xd2, 1,
			0x28, 2, 0x80, 0x01, 0xfc, 7, 0xc0}, Traits{true, true}},
	} {
		m := Module{Code: [][]byte{append(append([]byte{0}, test.body...), 0x0b)}}
		if got, err := m.CheckCode(); err != nil || got != test.want {
			t.Errorf("%s: got %+v, %v; want %+v", test.name, got, err, test.want)
		}
	}
	for _, body := range [][]byte{{}, {0}, {0, 0x02, 0x40, 0x0b}, {0, 0x0b, 0x0b}, {0, 0xc5, 0x0b}, {0, 0xfc, 15, 0, 0x0b}, {0, 0xfc, 18, 0x0b}, {0, 0xfe, 0, 0x0b}, {0, 0xfd, 0x80, 0x02, 0x0b}} {
		m := Module{Code: [][]byte{body}}
		if _, err := m.CheckCode(); err == nil {
			t.Errorf("CheckCode of % x: no error", body)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(small())
	f.Add(file(section(SectionData, 2, 1, 1, 'x', 2, 0, 0x23, 0, 0x0b, 0)))
	f.Add(file(section(SectionElement, 3, 1, 0, 0, 5, FuncRef, 1, 0xd0, FuncRef, 0x0b, 6, 0, 0x41, 0, 0x0b, FuncRef, 0)))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Parse(b)
		if err != nil {
			return
		}
		for _, s := range m.Data {
			if len(s.Data) > len(b) {
				t.Error("a segment is longer than the file")
			}
		}
		_, _ = m.CheckCode()
		for i := range uint32(len(m.Funcs) + len(m.Imports) + 1) {
			_, _ = m.FuncType(i)
		}
		if m.InitialMemory() && m.Memory.Min < 4 {
			m.Fill(make([]byte, m.Memory.Min*PageSize))
		}
		if _, err := Parse(m.Without("name")); err != nil {
			t.Errorf("without a custom section: %v", err)
		}
		if len(m.MutableGlobals()) == 0 {
			if _, err := Parse(m.Clean(false)); err != nil {
				t.Errorf("cleaned: %v", err)
			}
		}
	})
}

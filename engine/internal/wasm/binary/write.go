package binary

import "strconv"

// enginePrefix starts the names of exports that the engine adds.
const enginePrefix = "eval.engine."

// GlobalName is the name under which [Module.Clean] exports the i-th global that
// the module defines.
func GlobalName(i int) string { return enginePrefix + "global." + strconv.Itoa(i) }

// Clean returns the module without its custom sections and with every mutable
// global exported as [GlobalName] says, so that an instance's state can be read
// and put back. With dropData its data segments are left out as well, for an
// engine that fills the memory itself.
func (m *Module) Clean(dropData bool) []byte {
	out := []byte(Header)
	exported := false
	for _, s := range m.Sections {
		if s.ID == SectionCustom || dropData && (s.ID == SectionData || s.ID == SectionDataCount) {
			continue
		}
		if !exported && order[s.ID] >= SectionExport {
			exported = true
			out = AppendSection(out, SectionExport, m.exportSection())
		}
		if s.ID != SectionExport {
			out = AppendSection(out, s.ID, s.Body)
		}
	}
	return out
}

// Without returns the module without the custom sections of that name.
func (m *Module) Without(name string) []byte {
	out := []byte(Header)
	for _, s := range m.Sections {
		switch {
		case s.ID != SectionCustom:
			out = AppendSection(out, s.ID, s.Body)
		case s.Name != name:
			out = AppendCustom(out, s.Name, s.Body)
		}
	}
	return out
}

// InitialMemory reports whether the data segments are plain numbers and bytes
// that lie within the memory's first size, so that [Module.Fill] can stand in for
// them.
func (m *Module) InitialMemory() bool {
	if m.Memory == nil {
		return false
	}
	size := int64(m.Memory.Min) * PageSize
	for _, s := range m.Data {
		if s.Offset < 0 || s.Offset+int64(len(s.Data)) > size {
			return false
		}
	}
	return true
}

// Fill writes the data segments into memory, where InitialMemory reports true.
func (m *Module) Fill(memory []byte) {
	for _, s := range m.Data {
		copy(memory[s.Offset:], s.Data)
	}
}

// MutableGlobals are the indices of mutable globals among those that the module
// defines.
func (m *Module) MutableGlobals() []int {
	var list []int
	for i, g := range m.Globals {
		if g.Mutable {
			list = append(list, i)
		}
	}
	return list
}

func (m *Module) exportSection() []byte {
	exports := append([]Export(nil), m.Exports...)
	base := m.imported(KindGlobal)
	for _, i := range m.MutableGlobals() {
		exports = append(exports, Export{GlobalName(i), KindGlobal, uint32(base + i)})
	}
	return AppendExports(nil, exports)
}

// AppendExports appends the body of an export section.
func AppendExports(b []byte, exports []Export) []byte {
	b = AppendU32(b, uint32(len(exports)))
	for _, e := range exports {
		b = AppendName(b, e.Name)
		b = append(b, e.Kind)
		b = AppendU32(b, e.Index)
	}
	return b
}

// AppendSection appends a section.
func AppendSection(b []byte, id byte, body []byte) []byte {
	b = append(b, id)
	b = AppendU32(b, uint32(len(body)))
	return append(b, body...)
}

// AppendCustom appends a custom section.
func AppendCustom(b []byte, name string, body []byte) []byte {
	return AppendSection(b, SectionCustom, append(AppendName(nil, name), body...))
}

// AppendName appends a name.
func AppendName(b []byte, s string) []byte {
	return append(AppendU32(b, uint32(len(s))), s...)
}

// AppendU32 appends an unsigned LEB128.
func AppendU32(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// AppendS64 appends a signed LEB128.
func AppendS64(b []byte, v int64) []byte {
	for {
		c := byte(v) & 0x7f
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// Package markup walks the HTML of a captured page: elements, attributes and text,
// nested as they are written. It does not move elements about as a browser does
// that reads a file: what a capture holds was written from the browser's own tree,
// in which scripts may have put a div into a paragraph. Any bytes can be walked; the
// cost is linear in them. Start at [Walk].
//
// It has a tokenizer of its own: that of golang.org/x/net/html copies every name and
// value, which in WebAssembly takes several times as long as all measures together.
package markup

import "bytes"

// maxDepth is how deep elements nest. What lies deeper has no children of its own.
const maxDepth = 4096

// Visitor is told what a page holds. An element may be used until it is closed, its
// attributes only while it is opened.
type Visitor interface {
	Open(e *Element)
	Text(parent *Element, text []byte)
	// Close is called once for every element that was opened, also for one that has
	// no end tag.
	Close(e *Element)
}

// Element is an open element.
type Element struct {
	Tag    *Tag
	Parent *Element
	// Depth is 0 for an element without a parent.
	Depth int
	// Foreign is set within svg and math, and for these themselves.
	Foreign bool
	// src is the document, tag where in it the start tag is.
	src        []byte
	tag        span
	attributes []attribute
}

// span is a piece of a document.
type span struct{ from, to uint32 }

func (s span) of(src []byte) []byte { return src[s.from:s.to] }

// Tag is the name of elements, in lower case. There is one for each name in a walk.
type Tag struct {
	Name string
	// Class is the visitor's own to set.
	Class int
	open  int
	marks int
}

// attribute is as it is written.
type attribute struct{ key, value []byte }

// Attr returns an attribute; its name is in lower case and begins with a letter. It is for the time of [Visitor.Open].
func (e *Element) Attr(name string) (value []byte, ok bool) {
	for i := range e.attributes {
		if a := &e.attributes[i]; len(a.key) == len(name) && a.key[0]|0x20 == name[0] && equalFold(a.key, name) {
			return unescape(a.value), true
		}
	}
	return nil, false
}

// Has reports whether an attribute is there and not blank. It is for the time of
// [Visitor.Open].
func (e *Element) Has(name string) bool {
	v, _ := e.Attr(name)
	return len(bytes.TrimSpace(v)) > 0
}

// void elements have no end tag.
var void = map[string]bool{
	"area": true, "base": true, "br": true, "col": true, "embed": true, "hr": true, "img": true, "input": true, "link": true,
	"meta": true, "param": true, "source": true, "track": true, "wbr": true,
}

// mute elements hold no content of the page.
var mute = map[string]bool{
	"template": true, "script": true, "style": true, "noscript": true, "noembed": true, "noframes": true, "iframe": true,
}

// verbatim elements have text alone for content, up to their end tag.
var verbatim = map[string]bool{
	"script": true, "style": true, "noscript": true, "noembed": true, "noframes": true, "iframe": true, "xmp": true,
	"title": true, "textarea": true,
}

// Marks of a [Tag].
const (
	isVoid = 1 << iota
	isMute
	isVerbatim
)

type walker struct {
	scanner
	v        Visitor
	classify func(string) int
	tags     map[string]*Tag
	// recent finds a tag by a few of its bytes.
	recent [64]*Tag
	stack  []*Element
	// depth is how many of the stack are open; the rest is kept for reuse.
	depth int
	// muted is the depth of the mute element that is open, or 0.
	muted int
}

// Walk tells v what is in src, which must be shorter than 4 GiB and not be changed
// meanwhile. classify, unless
// nil, gives a new tag its class.
func Walk(src []byte, classify func(name string) int, v Visitor) {
	w := &walker{scanner: scanner{src: src}, v: v, classify: classify, tags: map[string]*Tag{}}
	for {
		switch w.next() {
		case end:
			w.closeTo(0)
			return
		case textToken:
			w.say()
		case startToken:
			w.start()
		case endToken:
			w.end()
		}
	}
}

func (w *walker) top() *Element {
	if w.depth == 0 {
		return nil
	}
	return w.stack[w.depth-1]
}

func (w *walker) say() {
	if w.muted == 0 && len(w.text) > 0 {
		w.v.Text(w.top(), unescape(w.text))
	}
}

// find returns the tag of the token's name.
func (w *walker) find() *Tag {
	name := w.name
	slot := &w.recent[(len(name)*13+int(name[0]|0x20)*5+int(name[len(name)-1]|0x20))&63]
	if *slot != nil && equalFold(name, (*slot).Name) {
		return *slot
	}
	lower := string(bytes.ToLower(name))
	t := w.tags[lower]
	if t == nil {
		t = &Tag{Name: lower}
		if w.classify != nil {
			t.Class = w.classify(lower)
		}
		for _, m := range [...]struct {
			set  map[string]bool
			mark int
		}{{void, isVoid}, {mute, isMute}, {verbatim, isVerbatim}} {
			if m.set[lower] {
				t.marks |= m.mark
			}
		}
		w.tags[lower] = t
	}
	*slot = t
	return t
}

func (w *walker) start() {
	tag := w.find()
	w.imply(tag.Name)
	e := w.push(tag)
	if w.muted == 0 {
		w.v.Open(e)
		if tag.marks&isMute != 0 {
			w.muted = w.depth
		}
	}
	if !e.Foreign && tag.marks&isVerbatim != 0 {
		w.raw(tag.Name)
		w.say()
	}
	if !e.Foreign && tag.marks&isVoid != 0 || e.Foreign && w.selfClosing || w.depth > maxDepth {
		w.closeTo(w.depth - 1)
	}
}

// push makes an element the innermost one.
func (w *walker) push(tag *Tag) *Element {
	parent := w.top()
	if w.depth == len(w.stack) {
		w.stack = append(w.stack, &Element{})
	}
	e := w.stack[w.depth]
	foreign := tag.Name == "svg" || tag.Name == "math" || parent != nil && parent.Foreign && parent.Tag.Name != "foreignobject"
	*e = Element{
		Tag: tag, Parent: parent, Depth: w.depth, Foreign: foreign,
		src: w.src, tag: span{uint32(w.from), uint32(w.at)}, attributes: w.attributes,
	}
	tag.open++
	w.depth++
	return e
}

// end closes the innermost element of the token's name; there may be none.
func (w *walker) end() {
	tag := w.find()
	if tag.open == 0 {
		return
	}
	for i := w.depth - 1; i >= 0; i-- {
		if w.stack[i].Tag == tag {
			w.closeTo(i)
			return
		}
	}
}

func (w *walker) closeTo(depth int) {
	for w.depth > depth {
		e := w.top()
		e.Tag.open--
		if w.muted == w.depth {
			w.muted = 0
		}
		if w.muted == 0 {
			w.v.Close(e)
		}
		w.depth--
	}
}

// imply closes the innermost element where an element of that name cannot be in it
// and its end tag may be left out.
func (w *walker) imply(name string) {
	for w.depth > 0 && implies(w.top().Tag.Name, name) {
		w.closeTo(w.depth - 1)
	}
}

func implies(open, next string) bool {
	switch open {
	case "p", "li", "option":
		return next == open || open == "option" && next == "optgroup"
	case "dt", "dd":
		return next == "dt" || next == "dd"
	case "td", "th":
		return next == "td" || next == "th" || next == "tr" || next == "tbody" || next == "tfoot"
	case "tr":
		return next == "tr" || next == "tbody" || next == "tfoot"
	case "thead", "tbody":
		return next == "tbody" || next == "tfoot"
	}
	return false
}

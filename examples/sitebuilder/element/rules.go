package element

import (
	"fmt"
	"slices"
	"strings"
)

// Limits of one tree that an agent hands in.
const (
	MaxSource   = 256 << 10
	MaxElements = 2000
	MaxDepth    = 32
	MaxText     = 64 << 10
)

const tags = " a article aside b blockquote br button code dd div dl dt em fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6" +
	" header hr i img input label legend li main nav ol option p pre section select small span strong sub sup table tbody td" +
	" textarea tfoot th thead time tr u ul "

const voidTags = " br hr img input "

const attributes = " action alt aria-current aria-describedby aria-expanded aria-hidden aria-label aria-labelledby checked colspan" +
	" datetime disabled for height href id lang loading method name placeholder rel required role rowspan scope selected src" +
	" target title type value width "

const listAttributes = " collection limit sort "

func among(set, word string) bool {
	return word != "" && !strings.ContainsRune(word, ' ') && strings.Contains(set, " "+word+" ")
}

// Void says whether elements of that tag have neither text nor children.
func Void(tag string) bool { return among(voidTags, tag) }

// Check returns what is wrong with the tree, or nil. Every tree is checked before it gets onto a page.
func (e *Element) Check() error {
	count := 0
	return e.check(1, &count)
}

func (e *Element) check(depth int, count *int) error {
	if *count++; *count > MaxElements {
		return fmt.Errorf("more than %d elements in one call; build the page in several calls", MaxElements)
	}
	if depth > MaxDepth {
		return fmt.Errorf("elements are nested more than %d deep", MaxDepth)
	}
	if err := e.checkSelf(); err != nil {
		return err
	}
	for _, c := range e.Children {
		if c == nil {
			return fmt.Errorf("a child of <%s> is null", e.Tag)
		}
		if err := c.check(depth+1, count); err != nil {
			return err
		}
	}
	return nil
}

func (e *Element) checkSelf() error {
	if len(e.Text) > MaxText {
		return fmt.Errorf("text of <%s> is %d bytes long; the limit is %d", e.Tag, len(e.Text), MaxText)
	}
	if e.Tag == TextTag {
		if len(e.Children)+len(e.Classes)+len(e.Attributes) > 0 {
			return fmt.Errorf("%s has text only: no children, classes or attributes", TextTag)
		}
		return nil
	}
	if e.Tag != ListTag && !among(tags, e.Tag) {
		return fmt.Errorf("element <%s> is not supported; use one of:%s%s", clip(e.Tag), tags, ListTag)
	}
	if Void(e.Tag) && (e.Text != "" || len(e.Children) > 0) {
		return fmt.Errorf("<%s> can hold neither text nor children", e.Tag)
	}
	if e.Tag == ListTag && e.Attributes["collection"] == "" {
		return fmt.Errorf("<%s> needs the attribute \"collection\": the slug of the collection to list", ListTag)
	}
	for _, c := range e.Classes {
		if err := CheckClass(c); err != nil {
			return err
		}
	}
	for _, name := range sortedKeys(e.Attributes) {
		if err := CheckAttribute(e.Tag, name, e.Attributes[name]); err != nil {
			return err
		}
	}
	return nil
}

// CheckClass returns what is wrong with a class name, or nil.
func CheckClass(name string) error {
	ok := name != "" && len(name) <= 64 && (name[0] < '0' || name[0] > '9') && name[0] != '-'
	for _, r := range name {
		ok = ok && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	}
	if !ok {
		return fmt.Errorf("class %q is not a name: letters, digits, - and _, at most 64, beginning with a letter or _", clip(name))
	}
	return nil
}

// CheckAttribute returns what is wrong with an attribute of an element of that tag, or nil.
func CheckAttribute(tag, name, value string) error {
	switch {
	case name == "style":
		return fmt.Errorf("attribute \"style\" on <%s> is not supported: make a class with styles_create and name it in classes", tag)
	case name == "class":
		return fmt.Errorf("attribute \"class\" on <%s>: name classes in the list \"classes\"", tag)
	case tag == ListTag && among(listAttributes, name):
	case strings.HasPrefix(name, "data-") && CheckClass(name) == nil:
	case !among(attributes, name):
		return fmt.Errorf("attribute %q on <%s> is not supported", clip(name), tag)
	}
	if len(value) > MaxText {
		return fmt.Errorf("attribute %q on <%s> is %d bytes long; the limit is %d", name, tag, len(value), MaxText)
	}
	if !SafeAttribute(name, value) {
		return fmt.Errorf("attribute %q on <%s> holds %q, which is not an address a page may use", name, tag, clip(value))
	}
	return nil
}

// SafeAttribute says whether the value may stand on a page: addresses in href, src and action can run no code. It is
// asked again when a page is rendered, because bindings are filled in only then.
func SafeAttribute(name, value string) bool {
	switch name {
	case "href", "action":
		return SafeURL(value)
	case "src":
		return SafeURL(value) || SafeImage(value)
	}
	return true
}

// SafeURL says whether s is relative or of a scheme that only leads somewhere.
func SafeURL(s string) bool {
	s = strings.TrimSpace(s)
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return false
	}
	scheme, _, ok := strings.Cut(s, ":")
	if !ok || strings.ContainsAny(scheme, "/?#{") {
		return true
	}
	return slices.Contains([]string{"http", "https", "mailto", "tel"}, strings.ToLower(scheme))
}

// SafeImage says whether s is an image written out in the address itself.
func SafeImage(s string) bool {
	for _, kind := range []string{"png", "jpeg", "gif", "webp", "svg+xml"} {
		rest, ok := strings.CutPrefix(s, "data:image/"+kind)
		if ok && (strings.HasPrefix(rest, ",") || strings.HasPrefix(rest, ";")) {
			return true
		}
	}
	return false
}

func clip(s string) string {
	if len(s) <= 80 {
		return s
	}
	return strings.ToValidUTF8(s[:80], "") + "..."
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

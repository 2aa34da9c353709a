package tree

import "testing"

func TestPointer(t *testing.T) {
	root := parse(t, `{"a":[1,{"b/c":2,"~":3,"":4}],"0":5}`)
	tests := []struct{ pointer, want string }{
		{"", `{"a":[1,{"b/c":2,"~":3,"":4}],"0":5}`},
		{"/a/0", "1"},
		{"/a/1/b~1c", "2"},
		{"/a/1/~0", "3"},
		{"/a/1/", "4"},
		{"/0", "5"},
		{"/a/00", "nothing"},
		{"/a/+1", "nothing"},
		{"/a/-1", "nothing"},
		{"/a/-", "nothing"},
		{"/a/99999999999", "nothing"},
		{"/a/0/x", "nothing"},
		{"/b", "nothing"},
	}
	for _, tt := range tests {
		if err := CheckPointer(tt.pointer); err != nil {
			t.Errorf("CheckPointer(%q): %v", tt.pointer, err)
		}
		if got := root.Find(tt.pointer).Show(100); got != tt.want {
			t.Errorf("Find(%q) = %s; want %s", tt.pointer, got, tt.want)
		}
	}
	for _, p := range []string{"a", "$.a", "/~", "/~2", "/a~"} {
		if CheckPointer(p) != ErrPointer {
			t.Errorf("CheckPointer(%q) has no error", p)
		}
	}
}

func FuzzPointer(f *testing.F) {
	f.Add(`{"a":[1,{"b/c":2}]}`, "/a/1/b~1c")
	f.Fuzz(func(t *testing.T, document, pointer string) {
		root, err := Parse([]byte(document))
		if err != nil || CheckPointer(pointer) != nil {
			return
		}
		if v := root.Find(pointer); v.Exists() && root.Find(v.Pointer(root)) != v && len(root.Members()) == root.Len() {
			t.Errorf("%q: %q finds %q", document, pointer, v.Pointer(root))
		}
	})
}

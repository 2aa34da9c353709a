package site

import "testing"

func BenchmarkNew(b *testing.B) {
	for _, template := range Templates() {
		b.Run(template, func(b *testing.B) {
			for b.Loop() {
				if _, err := New(template); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkState(b *testing.B) {
	s, err := New("demo")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if len(s.State().Pages) != 4 {
			b.Fatal("pages are missing")
		}
	}
}

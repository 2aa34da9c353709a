package main

import (
	"encoding/json"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

func TestMapping(t *testing.T) {
	for _, tt := range []struct {
		name, was, is, in, want string
	}{
		{"same place", `{"a":{"id":"old-id"}}`, `{"a":{"id":"new-id"}}`, `{"x":"old-id"}`, `{"x":"new-id"}`},
		{"nothing to rewrite is kept as written", `{"id":"a"}`, `{"id":"b"}`, `{ "x" : "c" }`, `{ "x" : "c" }`},
		{"list by place", `["a1","a2"]`, `["b1","b2"]`, `["a2","a1"]`, `["b2","b1"]`},
		{"JSON in a text", `{"content":[{"text":"{\"id\":\"old\"}"}]}`, `{"content":[{"text":"{\"id\":\"new\"}"}]}`, `{"x":"old"}`, `{"x":"new"}`},
		{"inside a string", `{"id":"old-id"}`, `{"id":"new-id"}`, `{"u":"/sites/old-id/pages"}`, `{"u":"/sites/new-id/pages"}`},
		{"short ones not inside", `{"id":"ab"}`, `{"id":"cd"}`, `{"u":"cabin","v":"ab"}`, `{"u":"cabin","v":"cd"}`},
		{"longest first", `["abcdef","abcdefgh"]`, `["111111","22222222"]`, `{"u":"x-abcdefgh-abcdef"}`, `{"u":"x-22222222-111111"}`},
		{"not twice", `["aaaaaa","bbbbbb"]`, `["bbbbbb","cccccc"]`, `{"u":"aaaaaa/bbbbbb"}`, `{"u":"bbbbbb/cccccc"}`},
		{"number in an ID", `{"id":7}`, `{"id":9}`, `{"site_id":7,"count":7,"ids":[7,8]}`, `{"count":7,"ids":[9,8],"site_id":9}`},
		{"large number", `{"id":12345678901234567890}`, `{"id":12345678901234567891}`, `{"id":12345678901234567890}`, `{"id":12345678901234567891}`},
		{"other kinds are no pair", `{"id":"7"}`, `{"id":7}`, `{"x":"7"}`, `{"x":"7"}`},
		{"recorded result cut", `{"id":"ol`, `{"id":"new"}`, `{"x":"old"}`, `{"x":"old"}`},
		{"arguments that are not JSON", `{}`, `{}`, `{"a":`, `{"a":`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMapping()
			m.learn(eval.JSON(tt.was), eval.JSON(tt.is))
			if got := m.arguments(eval.JSON(tt.in)); string(got) != tt.want {
				t.Errorf("arguments = %s; want %s", got, tt.want)
			}
		})
	}
}

func TestMappingOfPrompts(t *testing.T) {
	m := newMapping()
	m.learnText("On http://127.0.0.1:4001, add a note.", "On http://127.0.0.1:5002, add a note.")
	if got, want := m.text("see http://127.0.0.1:4001/notes"), "see http://127.0.0.1:5002/notes"; got != want {
		t.Errorf("text = %q; want %q", got, want)
	}
	m.learnText("another prompt altogether", "with five words in it")
	if len(m.strings) != 1 {
		t.Errorf("pairs = %v; want the one", m.strings)
	}
}

func TestLaterPairWins(t *testing.T) {
	m := newMapping()
	m.learn(eval.JSON(`"old-id"`), eval.JSON(`"new-1"`))
	m.learn(eval.JSON(`"old-id"`), eval.JSON(`"new-2"`))
	if got, want := m.text("/old-id/"), "/new-2/"; got != want {
		t.Errorf("text = %q; want %q", got, want)
	}
}

func FuzzMapping(f *testing.F) {
	f.Add(`{"id":"old-id"}`, `{"id":"new-id"}`, `{"x":["/old-id/",7]}`)
	f.Add(`["a"]`, `["[1]"]`, `{"id":1}`)
	f.Fuzz(func(t *testing.T, was, is, args string) {
		m := newMapping()
		m.learn(eval.JSON(was), eval.JSON(is))
		m.learnText(was, is)
		got := m.arguments(eval.JSON(args))
		if json.Valid([]byte(args)) && !json.Valid(got) {
			t.Errorf("arguments %q became %q", args, got)
		}
	})
}

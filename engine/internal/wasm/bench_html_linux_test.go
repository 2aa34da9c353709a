package wasm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

// builtIn builds a built-in module from its sources.
func builtIn(tb testing.TB, name string) []byte {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), name+".wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-buildmode=c-shared", "-ldflags=-s -w", "-o", file, "../../../scorers/"+name)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("%v: %s", err, out)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// largePage is a page of many cards, each as builders write them: a wrapper or two,
// classes, an image, a heading, text, links and a form field.
func largePage(size int) []byte {
	var sb strings.Builder
	sb.WriteString(`<!DOCTYPE html><html lang="en"><head><title>Cards</title></head><body><header><nav><a href="/">Home</a></nav></header><main><h1>Cards</h1>`)
	for i := 0; sb.Len() < size; i++ {
		fmt.Fprintf(&sb, `<div class="card w-full rounded-lg p-4 shadow-md" id="card-%d"><div class="inner flex flex-col gap-2">`+
			`<img src="/images/%d.png" alt="Picture of dish %d" class="thumb object-cover"><h2 class="text-xl font-bold">Dish %d</h2>`+
			`<p class="text-sm text-gray-700">A dish of leeks &amp; potatoes, with <strong>cream</strong> and <em>nutmeg</em>, for %d people.</p>`+
			`<ul class="tags"><li>soup</li><li>winter</li></ul><label for="n-%d">Servings</label><input id="n-%d" type="number" name="n" value="2">`+
			`<a class="btn btn-primary" href="/dishes/%d">Cook dish %d</a></div></div>`, i, i, i, i, i%9, i, i, i, i)
	}
	sb.WriteString(`</main></body></html>`)
	return []byte(sb.String())
}

// BenchmarkHTML scores one page with every measure of html that reads its HTML, the
// worker's part of the engine included.
func BenchmarkHTML(b *testing.B) {
	module := builtIn(b, "html")
	for _, size := range []int{10 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size>>10, "KB"), func(b *testing.B) {
			rt := newRuntime(b, Options{Workers: 1})
			m, err := rt.Load(b.Context(), "html", module, "", eval.Grants{})
			if err != nil {
				b.Fatal(err)
			}
			in := &eval.ScoreInput{Pages: []eval.Page{{Name: "home", Status: 200, HTML: largePage(size)}}}
			for _, name := range []string{"semantic_html_ratio", "landmarks", "heading_order", "alt_text", "labels", "links", "div_depth"} {
				in.Uses = append(in.Uses, eval.Use{Name: name, Scorer: name})
			}
			score := func() {
				out, err := m.Score(b.Context(), in)
				if err != nil {
					b.Fatal(err)
				}
				for _, o := range out {
					if o.State != eval.Scored {
						b.Fatal(o)
					}
				}
			}
			score()
			before := cpu(b, rt)
			for b.Loop() {
				score()
			}
			b.ReportMetric((cpu(b, rt)-before)/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(peak(b, rt.pure.idle[0].cmd.Process.Pid))/1e6, "worker-MB")
		})
	}
}

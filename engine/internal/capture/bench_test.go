package capture

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// BenchmarkCapture takes a page of three sections with a warm browser.
func BenchmarkCapture(b *testing.B) {
	br := newBrowser(b, Options{})
	s := site(b, nil)
	j := job("three", s.URL+"/three.html")
	take(b, br, j)
	b.ResetTimer()
	for b.Loop() {
		b.StopTimer()
		br.busy.Wait()
		br.in.work.Wait() // what is made ahead is there
		b.StartTimer()
		if p := take(b, br, j); p.Error != "" || len(p.Unsettled) > 0 {
			b.Fatalf("error %q, unsettled %q", p.Error, p.Unsettled)
		}
	}
}

// BenchmarkChromedp is what the same page takes without settling: chromedp's own
// navigation, full screenshot and outer HTML, in a tab of the same browser.
func BenchmarkChromedp(b *testing.B) {
	path, err := Find(newBrowser(b, Options{}).o.Config)
	if err != nil {
		b.Fatal(err)
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(1280, 800))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	defer stop()
	ctx, end := chromedp.NewContext(ctx)
	defer end()
	if err := chromedp.Do(ctx); err != nil {
		b.Fatal(err)
	}
	s := site(b, nil)
	for _, c := range []struct {
		name  string
		fresh bool
	}{{"tab", false}, {"context", true}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				tab, close := ctx, func() {}
				if c.fresh {
					tab, close = chromedp.NewContext(ctx, chromedp.WithNewBrowserContext(func(*target.CreateBrowserContextParams) {}))
				}
				if err := chromedp.Do(tab, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(s.URL+"/three.html")); err != nil {
					b.Fatal(err)
				}
				shot, err := chromedp.Run(tab, chromedp.FullScreenshot(100))
				if err != nil || len(shot) == 0 {
					b.Fatal(err)
				}
				html, err := chromedp.Run(tab, chromedp.OuterHTML(chromedp.CSS("html")))
				if err != nil || len(html) == 0 {
					b.Fatal(err)
				}
				close()
			}
		})
	}
}

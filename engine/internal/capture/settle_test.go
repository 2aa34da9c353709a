package capture

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// after answers late.
func after(d time.Duration, h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(d):
			h(w, r)
		case <-r.Context().Done():
		}
	}
}

func red(w http.ResponseWriter, r *http.Request) {
	img := image.NewRGBA(image.Rect(0, 0, 200, 100))
	for i := range img.Pix {
		img.Pix[i] = []byte{255, 0, 0, 255}[i%4]
	}
	var b bytes.Buffer
	png.Encode(&b, img)
	w.Write(b.Bytes())
}

func early(t *testing.T) map[string]http.HandlerFunc {
	font, err := os.ReadFile("testdata/block.ttf")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]http.HandlerFunc{
		"/late.ttf": after(700*time.Millisecond, func(w http.ResponseWriter, r *http.Request) { w.Write(font) }),
		"/late.png": after(900*time.Millisecond, red),
	}
}

// The page is taken with its late font and its lazy picture, standing still, and
// its cookie layer is told of.
func TestSettled(t *testing.T) {
	b := newBrowser(t, Options{})
	s := site(t, early(t))
	j := job("early", s.URL+"/early.html")
	p := take(t, b, j)
	if p.Error != "" || len(p.Unsettled) != 1 || !strings.Contains(p.Unsettled[0], "a cookie layer covers 100 % of the screen: div#consent") {
		t.Fatalf("error %q, unsettled %q", p.Error, p.Unsettled)
	}
	if !strings.Contains(string(p.HTML), "has been seen") || !strings.Contains(string(p.HTML), "We use cookies") {
		t.Error("HTML lacks what comes when it is scrolled to, or the cookie layer")
	}
	j.Name, j.Hide = "early-hidden", []string{"#consent"}
	p = take(t, b, j)
	again := take(t, b, j)
	if p.Error != "" || len(p.Unsettled) > 0 || again.Error != "" {
		t.Fatalf("error %q, unsettled %q; again %q", p.Error, p.Unsettled, again.Error)
	}
	if strings.Contains(string(p.HTML), "We use cookies") {
		t.Error("what is hidden by the suite is in the HTML")
	}
	img := whole(t, p.Shots[0])
	rows := map[color.Color]int{}
	for y := range img.Bounds().Dy() {
		rows[color.RGBAModel.Convert(img.At(4, y))]++
	}
	for _, c := range []struct {
		what string
		rgb  color.RGBA
	}{{"late font", color.RGBA{0, 0, 255, 255}}, {"lazy picture", color.RGBA{255, 0, 0, 255}}, {"animation that never ends", color.RGBA{0, 0xaa, 0, 255}},
		{"animation that ends", color.RGBA{0x88, 0, 0x88, 255}}, {"transition", color.RGBA{0, 0x88, 0x88, 255}}} {
		if rows[c.rgb] < 99 || rows[c.rgb] > 101 {
			t.Errorf("%s: %d rows of its colour; want 100", c.what, rows[c.rgb])
		}
	}
	for i := range p.Shots[0].Tiles {
		if p.Shots[0].Tiles[i].SHA256 != again.Shots[0].Tiles[i].SHA256 {
			t.Errorf("tile %d differs from one time to the next", i)
		}
	}
}

// What does not come to rest is taken all the same, and said.
func TestUnsettled(t *testing.T) {
	b := newBrowser(t, Options{})
	hang := after(time.Hour, red)
	s := site(t, map[string]http.HandlerFunc{
		"/moves":   html(`<div id=clock style="width:200px;height:50px"></div><script>setInterval(() => { clock.textContent = performance.now(); }, 5)</script>`),
		"/grows":   html(`<p>x</p><script>setInterval(() => document.body.append(document.createElement("hr")), 5)</script>`),
		"/image":   html(`<p>text</p><img src=/hang>`),
		"/script":  html(`<p>text</p><script src=/hang></script><p>never`),
		"/fetch":   html(`<p>text</p><script>fetch("/hang")</script>`),
		"/wait":    html(`<p>text</p>`),
		"/events":  html(`<p>text</p><script>new EventSource("/hang")</script>`),
		"/endless": html(`<p>text</p><script>onload = () => setTimeout(() => { while (true); }, 0)</script>`),
		"/busy":    html(`<p>text</p><script>while (true);</script><p>after`),
		"/hang":    hang,
	})
	cases := []struct{ path, want, html string }{
		{"/moves", "the picture still changes at ", "clock"},
		{"/grows", "the page's height changes", "<hr>"},
		{"/image", "still loading: GET " + s.URL + "/hang", "text"},
		{"/script", "the page had not loaded: GET " + s.URL + "/hang", "text"},
		{"/fetch", "still loading: GET " + s.URL + "/hang", "text"},
		{"/wait", `nothing on the page matches "#never"`, "text"},
		{"/events", "", "text"},
		{"/endless", "a script of the page did not end; it was stopped", "text"},
		{"/busy", "a script of the page did not end; it was stopped", "text"},
	}
	for _, c := range cases {
		t.Run(c.path[1:], func(t *testing.T) {
			t.Parallel()
			j := job("unsettled-"+c.path[1:], s.URL+c.path)
			j.Timeout = 40 * time.Second // 10 s to come to rest
			if c.path == "/wait" {
				j.WaitFor = "#never"
			}
			p := take(t, b, j)
			if got := strings.Join(p.Unsettled, "\n"); p.Error != "" || !strings.Contains(got, c.want) || c.want == "" && c.path == "/events" && got != "" {
				t.Errorf("error %q, unsettled %q; want %q", p.Error, got, c.want)
			}
			if !strings.Contains(string(p.HTML), c.html) || len(p.Shots) != 1 || len(p.Shots[0].Tiles) == 0 {
				t.Errorf("HTML %q, %d shots", p.HTML, len(p.Shots))
			}
		})
	}
}

// What comes a little later is waited for.
func TestLateContent(t *testing.T) {
	b := newBrowser(t, Options{})
	s := site(t, map[string]http.HandlerFunc{
		"/chain": html(`<p id=p>wait</p><script>fetch("/slow").then((r) => r.text()).then((t) => setTimeout(() => fetch("/slow").then(() => { p.textContent = "there" }), 50))</script>`),
		"/timer": html(`<p id=p>wait</p><script>setTimeout(() => { p.textContent = "there" }, 800)</script>`),
		"/slow":  after(300*time.Millisecond, html("x")),
		"/goto":  html(`<script>location = "/chain"</script>`),
		"/meta":  html(`<meta http-equiv=refresh content="0;url=/timer">`),
	})
	for _, path := range []string{"/chain", "/timer", "/goto", "/meta"} {
		t.Run(path[1:], func(t *testing.T) {
			t.Parallel()
			p := take(t, b, job("late-"+path[1:], s.URL+path))
			if p.Error != "" || len(p.Unsettled) > 0 || !strings.Contains(string(p.HTML), "there") {
				t.Errorf("error %q, unsettled %q, HTML %s", p.Error, p.Unsettled, p.HTML)
			}
		})
	}
}

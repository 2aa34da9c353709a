package capture

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

func TestStrips(t *testing.T) {
	cases := []struct {
		height int
		scale  float64
		side   int
		want   []strip
	}{
		{800, 1, 2000, []strip{{0, 800}}},
		{2000, 1, 2000, []strip{{0, 2000}}},
		{2001, 1, 2000, []strip{{0, 2000}, {2000, 1}}},
		{2500, 2, 2000, []strip{{0, 1000}, {1000, 1000}, {2000, 500}}},
		{2000, 1.5, 2000, []strip{{0, 1332}, {1332, 668}}},
		{3, 3, 2, []strip{{0, 1}, {1, 1}, {2, 1}}},
		{0, 1, 2000, nil},
	}
	for _, c := range cases {
		if got := strips(c.height, c.scale, c.side); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("strips(%d, %v, %d) = %v; want %v", c.height, c.scale, c.side, got, c.want)
		}
	}
}

// whole puts a shot's tiles below one another and checks that they fit.
func whole(t *testing.T, s eval.Shot) image.Image {
	t.Helper()
	var out *image.RGBA
	y := 0
	for i, tl := range s.Tiles {
		img, err := png.Decode(bytes.NewReader(tl.PNG))
		if err != nil {
			t.Fatal(err)
		}
		if img.Bounds().Dx() != tl.Width || img.Bounds().Dy() != tl.Height || tl.Width != int(float64(s.Viewport.Width)*s.Scale) {
			t.Fatalf("tile %d is %v; said to be %dx%d", i, img.Bounds(), tl.Width, tl.Height)
		}
		if int(float64(tl.Y)*s.Scale) != y {
			t.Fatalf("tile %d begins at %d; the one before ends at %d", i, tl.Y, y)
		}
		if tl.Height > tileSide {
			t.Errorf("tile %d is %d px high", i, tl.Height)
		}
		if out == nil {
			out = image.NewRGBA(image.Rect(0, 0, 8, int(math.Ceil(float64(s.Covered)*s.Scale))))
		}
		for j := range tl.Height {
			for x := range 8 {
				out.Set(x, y+j, img.At(x, j))
			}
		}
		y += tl.Height
	}
	if out == nil || y != out.Bounds().Dy() {
		t.Fatalf("tiles cover %d device pixels of %d CSS pixels", y, s.Covered)
	}
	return out
}

// Every band is in the tiles once, with all its pixels, in order.
func TestTiles(t *testing.T) {
	b := newBrowser(t, Options{})
	s := site(t, nil)
	cases := []struct {
		n, h   int
		scale  float64
		tiles  int
		height int
	}{
		{200, 100, 1, 10, 20000},
		{200, 100, 2, 20, 20000},
		{780, 100, 1, 39, 78000},
		{33, 101, 1.5, 3, 3333},
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%dx%d@%v", c.n, c.h, c.scale), func(t *testing.T) {
			j := job(fmt.Sprintf("bands-%d-%v", c.n, c.scale), fmt.Sprintf("%s/bands.html?n=%d&h=%d", s.URL, c.n, c.h))
			j.Scale = c.scale
			j.Viewports = []eval.Viewport{{Width: 640, Height: 480}}
			p := take(t, b, j)
			if p.Error != "" || len(p.Unsettled) > 0 || len(p.Shots) != 1 {
				t.Fatalf("error %q, unsettled %q, %d shots", p.Error, p.Unsettled, len(p.Shots))
			}
			shot := p.Shots[0]
			if shot.Height != c.height || shot.Covered != c.height || len(shot.Tiles) != c.tiles {
				t.Errorf("height %d, covered %d, %d tiles; want %d, all, %d", shot.Height, shot.Covered, len(shot.Tiles), c.height, c.tiles)
			}
			img := whole(t, shot)
			for y := range img.Bounds().Dy() {
				r, g, blue, _ := img.At(4, y).RGBA()
				want := int((float64(y)+0.5)/c.scale) / c.h
				edge := int(float64(y)/c.scale+0.999)%c.h == 0 && c.scale != float64(int(c.scale))
				if got := int(r>>8) + 256*int(g>>8); (got != want || blue>>8 != 90) && !edge {
					t.Fatalf("pixel row %d is of band %d (blue %d); want %d", y, got, blue>>8, want)
				}
			}
			t.Logf("%d tiles in %.1f s", len(shot.Tiles), p.Seconds)
		})
	}
}

// What is fixed to the window is in the first tile alone, and lengths that depend
// on the window's height are the window's.
func TestFixedOnce(t *testing.T) {
	b := newBrowser(t, Options{})
	s := site(t, nil)
	s.Config.Handler = html(`<!DOCTYPE html><style>body{margin:0}header{position:fixed;top:0;left:0;width:100%;height:50px;background:#f00}
		nav{position:sticky;top:0;height:50px;background:#00f}.full{height:100vh;background:#0f0}.rest{height:3000px;background:#fff}</style>
		<header></header><div class=full></div><nav></nav><div class=rest></div>`)
	p := take(t, b, job("fixed", s.URL))
	if p.Error != "" || len(p.Unsettled) > 0 {
		t.Fatalf("error %q, unsettled %q", p.Error, p.Unsettled)
	}
	img := whole(t, p.Shots[0])
	count := map[string]int{}
	for y := range img.Bounds().Dy() {
		r, g, b, _ := img.At(4, y).RGBA()
		count[fmt.Sprintf("%02x%02x%02x", r>>8, g>>8, b>>8)]++
	}
	want := map[string]int{"ff0000": 50, "00ff00": 750, "0000ff": 50, "ffffff": 3000}
	for k, n := range want {
		if count[k] != n {
			t.Errorf("%d rows of %s; want %d (%v)", count[k], k, n, count)
		}
	}
}

func TestInfiniteScroll(t *testing.T) {
	b := newBrowser(t, Options{})
	s := site(t, nil)
	s.Config.Handler = html(`<!DOCTYPE html><style>div{height:1000px}</style><div>0</div><div>1</div><p id=end>end</p><script>
		let n = 2; new IntersectionObserver((e) => { if (e[0].isIntersecting) for (let i = 0; i < 5; i++) { const d = document.createElement("div"); d.textContent = n++; end.before(d) } },
		{rootMargin: "500px"}).observe(end)</script>`)
	j := job("infinite", s.URL)
	p := take(t, b, j)
	if p.Error != "" || len(p.Shots) != 1 {
		t.Fatalf("error %q, %d shots", p.Error, len(p.Shots))
	}
	if got := p.Shots[0].Covered; got != maxGrown {
		t.Errorf("covered %d; want %d", got, maxGrown)
	}
	if got := strings.Join(p.Unsettled, "\n"); !strings.Contains(got, "the page grows as it is scrolled") {
		t.Errorf("unsettled %q", got)
	}
	j.MaxHeight = 5000
	if p = take(t, b, j); p.Shots[0].Covered != 5000 {
		t.Errorf("covered %d; want 5000", p.Shots[0].Covered)
	}
	j.FirstScreen = true
	if p = take(t, b, j); p.Shots[0].Covered != 800 || len(p.Unsettled) > 0 {
		t.Errorf("first screen: covered %d, unsettled %q", p.Shots[0].Covered, p.Unsettled)
	}
}

func TestViewports(t *testing.T) {
	b := newBrowser(t, Options{})
	s := site(t, nil)
	s.Config.Handler = html(`<!DOCTYPE html><style>body{margin:0;background:#f00}@media(max-width:500px){body{background:#00f}}</style><p>x`)
	j := job("views", s.URL)
	j.Viewports = []eval.Viewport{{Width: 1280, Height: 800}, {Width: 390, Height: 844}}
	p := take(t, b, j)
	if p.Error != "" || len(p.Shots) != 2 {
		t.Fatalf("error %q, %d shots", p.Error, len(p.Shots))
	}
	for i, want := range []string{"views.1280x800.1.png ff0000", "views.390x844.1.png 0000ff"} {
		r, g, b, _ := whole(t, p.Shots[i]).At(4, 700).RGBA()
		if got := fmt.Sprintf("%s %02x%02x%02x", p.Shots[i].Tiles[0].File, r>>8, g>>8, b>>8); got != want {
			t.Errorf("shot %d is %s; want %s", i, got, want)
		}
	}
}

package capture

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math"
	"time"

	"github.com/chromedp/cdproto/page"

	"github.com/evalengine/evalengine/engine/eval"
)

// strip is a part of the page, as wide as the viewport, in CSS pixels.
type strip struct{ y, height int }

// strips cut a height into parts of at most side device pixels, each below the one
// before. Each begins at a whole device pixel, so that none is in two.
func strips(height int, scale float64, side int) []strip {
	step := max(1, int(float64(side)/scale))
	for step > 1 && float64(step)*scale != math.Trunc(float64(step)*scale) {
		step--
	}
	var list []strip
	for y := 0; y < height; y += step {
		list = append(list, strip{y: y, height: min(step, height-y)})
	}
	return list
}

// shotLimit is how long one strip may take, after the time to come to rest.
const shotLimit = 10 * time.Second

// shoot takes a strip. It is taken from beyond the viewport: nothing is scrolled
// and nothing laid out anew, so what is fixed to the window shows once.
func (t *tab) shoot(ctx context.Context, width int, st strip) ([]byte, error) {
	yes := true
	res, err := limited(ctx, t, shotLimit, func(ctx context.Context) (page.CaptureScreenshotResult, error) {
		return do(ctx, t.s, page.CaptureScreenshot, page.CaptureScreenshotParams{
			Format: page.CaptureScreenshotFormatPng, CaptureBeyondViewport: &yes, OptimizeForSpeed: &yes,
			Clip: &page.Viewport{X: 0, Y: float64(st.y), Width: float64(width), Height: float64(st.height), Scale: 1},
		})
	})
	if err == nil && len(res.Data) == 0 {
		err = errors.New("the browser gave an empty picture")
	}
	return res.Data, err
}

// shootAll takes every strip. A script of the page that does not let it is stopped,
// once.
func (t *tab) shootAll(ctx context.Context, width int, list []strip) ([][]byte, error) {
	out := make([][]byte, 0, len(list))
	stopped := false
	for len(out) < len(list) {
		b, err := t.shoot(ctx, width, list[len(out)])
		if errors.Is(err, errBusy) && !stopped {
			if err := t.interrupt(ctx); err != nil {
				return out, err
			}
			stopped = true
			continue
		}
		if err != nil {
			return out, err
		}
		out = append(out, b)
	}
	return out, nil
}

// differs names the first part that two takes do not agree on.
func differs(list []strip, scale float64, a, b [][]byte) (image.Rectangle, bool) {
	for i := range list {
		if i < len(a) && i < len(b) && bytes.Equal(a[i], b[i]) {
			continue
		}
		if i >= len(a) || i >= len(b) {
			return image.Rect(0, list[i].y, 1, list[i].y+1), true
		}
		r, ok := changed(a[i], b[i])
		if !ok {
			continue
		}
		css := func(n int) int { return int(float64(n) / scale) }
		return image.Rect(css(r.Min.X), css(r.Min.Y)+list[i].y, css(r.Max.X)+1, css(r.Max.Y)+list[i].y+1), true
	}
	return image.Rectangle{}, false
}

// changed is the smallest rectangle outside which two pictures are equal.
func changed(a, b []byte) (image.Rectangle, bool) {
	x, errA := png.Decode(bytes.NewReader(a))
	y, errB := png.Decode(bytes.NewReader(b))
	if errA != nil || errB != nil || x.Bounds() != y.Bounds() {
		return image.Rect(0, 0, 1, 1), true
	}
	var r image.Rectangle
	bounds := x.Bounds()
	for j := bounds.Min.Y; j < bounds.Max.Y; j++ {
		for i := bounds.Min.X; i < bounds.Max.X; i++ {
			if x.At(i, j) != y.At(i, j) {
				r = r.Union(image.Rect(i, j, i+1, j+1))
			}
		}
	}
	return r, !r.Empty()
}

// tiles are the record's form of the pictures.
func tiles(list []strip, pictures [][]byte, name string) ([]eval.Tile, int, error) {
	var out []eval.Tile
	covered := 0
	for i, b := range pictures {
		cfg, err := png.DecodeConfig(bytes.NewReader(b))
		if err != nil {
			return out, covered, fmt.Errorf("picture of the page: %w", err)
		}
		sum := sha256.Sum256(b)
		out = append(out, eval.Tile{Y: list[i].y, Width: cfg.Width, Height: cfg.Height, File: fmt.Sprintf("%s.%d.png", name, i+1), SHA256: hex.EncodeToString(sum[:]), PNG: b})
		covered = list[i].y + list[i].height
	}
	return out, covered, nil
}

package report

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
)

// Measures of a small picture of a page, and of what is read for one.
const (
	thumbWidth  = 480
	thumbHeight = 360
	thumbPixels = 200 << 20 / 4 // decoded, four bytes each
)

// Thumbnail makes a small JPEG of the top of a page from its PNG.
func Thumbnail(picture []byte) ([]byte, error) {
	cfg, err := png.DecodeConfig(bytes.NewReader(picture))
	if err != nil {
		return nil, err
	}
	if cfg.Width < 1 || cfg.Height < 1 || cfg.Width > thumbPixels/cfg.Height {
		return nil, fmt.Errorf("a picture of %d x %d is too large", cfg.Width, cfg.Height)
	}
	img, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, shrink(img), &jpeg.Options{Quality: 80}); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// shrink scales the top of a picture to thumbWidth; a smaller one keeps its size.
// Each pixel is the mean of those it stands for, on white.
func shrink(img image.Image) image.Image {
	from := img.Bounds()
	scale := max(1, float64(from.Dx())/thumbWidth)
	width := max(1, int(float64(from.Dx())/scale))
	height := max(1, min(thumbHeight, int(float64(from.Dy())/scale)))
	out := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			cell := image.Rect(int(float64(x)*scale), int(float64(y)*scale), int(float64(x+1)*scale), int(float64(y+1)*scale))
			out.SetRGBA(x, y, average(img, cell.Add(from.Min).Intersect(from)))
		}
	}
	return out
}

func average(img image.Image, cell image.Rectangle) color.RGBA {
	var r, g, b, n uint64
	for y := cell.Min.Y; y < cell.Max.Y; y++ {
		for x := cell.Min.X; x < cell.Max.X; x++ {
			pr, pg, pb, pa := img.At(x, y).RGBA()
			white := uint64(0xffff - pa)
			r, g, b, n = r+uint64(pr)+white, g+uint64(pg)+white, b+uint64(pb)+white, n+1
		}
	}
	if n == 0 {
		return color.RGBA{255, 255, 255, 255}
	}
	return color.RGBA{uint8(r / n >> 8), uint8(g / n >> 8), uint8(b / n >> 8), 255}
}

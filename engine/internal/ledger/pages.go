package ledger

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// pagesDir is the folder of a trial with its captured pages.
const pagesDir = "pages"

// maxPicture bounds what a reader takes of one picture.
const maxPicture = 256 << 20

// Pages writes what captured pages show into the draft: NAME.html, NAME.ax.json and
// a PNG for each tile, whose File it fills in. What is known of the pages is part of
// the record.
func (d *Draft) Pages(pages []eval.Page) error {
	for i := range pages {
		if err := d.page(&pages[i]); err != nil {
			return fmt.Errorf("page %q: %w", pages[i].Name, advised(d.run.dir, err))
		}
	}
	return nil
}

func (d *Draft) page(p *eval.Page) error {
	put := func(name string, b []byte) error {
		if len(b) == 0 {
			return nil
		}
		if _, err := d.mkdir(); err != nil {
			return err
		}
		dir := filepath.Join(d.dir, pagesDir)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name), b, 0o600)
	}
	if err := put(p.Name+".html", p.HTML); err != nil {
		return err
	}
	if err := put(p.Name+".ax.json", p.Accessibility); err != nil {
		return err
	}
	for i := range p.Shots {
		for j := range p.Shots[i].Tiles {
			t := &p.Shots[i].Tiles[j]
			t.File = tileName(p.Name, i, j, p.Shots[i].Viewport)
			if err := put(t.File, t.PNG); err != nil {
				return err
			}
		}
	}
	return nil
}

// tileName is NAME.png for the first tile of the first viewport, and tells the
// others apart by viewport and by their number from the top.
func tileName(page string, shot, tile int, v eval.Viewport) string {
	name := page
	if shot > 0 {
		name += fmt.Sprintf("@%dx%d", v.Width, v.Height)
	}
	if tile > 0 {
		name += fmt.Sprintf("-%d", tile+1)
	}
	return name + ".png"
}

// picture says whether a file of a trial is a picture of a page: bytes in which
// there is no secret to find, and which do not get smaller.
func picture(name string) bool {
	return path.Dir(name) == pagesDir && strings.HasSuffix(name, ".png")
}

// ReadPages fills in what the pages of a record show. A file that is not there is
// left out.
func ReadPages(dir string, pages []eval.Page) error {
	for i := range pages {
		p := &pages[i]
		var err error
		if p.HTML, err = readPart(dir, p.Name+".html"); err != nil {
			return err
		}
		if p.Accessibility, err = readPart(dir, p.Name+".ax.json"); err != nil {
			return err
		}
		for s := range p.Shots {
			for t := range p.Shots[s].Tiles {
				tile := &p.Shots[s].Tiles[t]
				if !filepath.IsLocal(tile.File) || path.Base(tile.File) != tile.File {
					return fmt.Errorf("%s: page %q: %q is no name of a picture", dir, p.Name, tile.File)
				}
				if tile.PNG, err = readPart(dir, tile.File); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func readPart(dir, name string) ([]byte, error) {
	f, err := OpenFile(dir, path.Join(pagesDir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxPicture))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, pagesDir, name), err)
	}
	return b, nil
}

package model

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
)

// picture puts a tile's bytes into an image; it says what is wrong.
func (s *Session) picture(i *eval.ModelImage) string {
	if i.Page != "" {
		pages, of := s.o.Pages, "page"
		if i.Gold {
			pages, of = s.o.Gold, "page of the gold"
		}
		at := slices.IndexFunc(pages, func(p eval.Page) bool { return p.Name == i.Page })
		if at < 0 {
			return fmt.Sprintf("there is no %s %q", of, i.Page)
		}
		p := &pages[at]
		if i.Shot < 0 || i.Shot >= len(p.Shots) || i.Tile < 0 || i.Tile >= len(p.Shots[i.Shot].Tiles) {
			return fmt.Sprintf("%s %q has no tile %d of shot %d", of, i.Page, i.Tile, i.Shot)
		}
		i.Data, i.MediaType = p.Shots[i.Shot].Tiles[i.Tile].PNG, "image/png"
	}
	if len(i.Data) == 0 {
		return fmt.Sprintf("the picture of page %q, shot %d, tile %d is not there", i.Page, i.Shot, i.Tile)
	}
	if i.MediaType == "" {
		i.MediaType = "image/png"
	}
	sum := sha256.Sum256(i.Data)
	i.SHA256 = hex.EncodeToString(sum[:])
	return ""
}

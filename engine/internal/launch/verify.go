package launch

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/evalengine/evalengine/plugins/rpc"
)

// Verify returns the SHA-256 of the binary, and an error where it is not the
// pinned one (empty pins nothing) or where any user may change it.
func Verify(b Binary, pin string) (string, error) {
	c, err := check(b, pin)
	if err != nil {
		return "", err
	}
	return c.sum, c.file.Close()
}

// checked is a binary as it was when its digest was taken.
type checked struct {
	file *os.File
	sum  string
	was  os.FileInfo
}

// check opens the binary and takes its digest from the open file, which is what
// runs: another file that is put in its place in the meantime does not. The caller
// must close the file.
func check(b Binary, pin string) (*checked, error) {
	c, err := open(b.Path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s plugin %q: %w", b.Kind, b.Name, err)
	case pin != "" && !strings.EqualFold(c.sum, pin):
		_ = c.file.Close()
		return nil, mismatch(b, c.sum, pin)
	}
	return c, nil
}

func open(path string) (*checked, error) {
	if err := safe(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	c := &checked{file: f}
	if c.was, err = f.Stat(); err == nil {
		c.sum, err = sum(f)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return c, nil
}

// changed says whether what was started may be another than what was checked: the
// file was written to; or, where it is started by its path, that has another.
func (c *checked) changed(path string) bool {
	is, err := c.file.Stat()
	if err != nil || is.Size() != c.was.Size() || !is.ModTime().Equal(c.was.ModTime()) || changedAt(is) != changedAt(c.was) {
		return true
	}
	if rpc.Bound(c.file) {
		return false
	}
	there, err := os.Stat(path)
	return err != nil || !os.SameFile(there, is)
}

func mismatch(b Binary, sum, pin string) error {
	return fmt.Errorf("%s plugin %q: %w: %s has the SHA-256 %s, the suite pins %s",
		b.Kind, b.Name, ErrDigest, b.Path, sum, strings.ToLower(pin))
}

// safe refuses a file that any user may write, or that any user may replace: in a
// world-writable folder without the sticky bit.
func safe(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	fi, err := os.Stat(real)
	if err != nil {
		return err
	}
	if fi.Mode()&0o002 != 0 {
		return fmt.Errorf("%w: %s is writable for all; chmod o-w it", ErrUnsafe, real)
	}
	dir, err := os.Stat(filepath.Dir(real))
	if err != nil {
		return err
	}
	if dir.Mode()&0o002 != 0 && dir.Mode()&os.ModeSticky == 0 {
		return fmt.Errorf("%w: the folder %s is writable for all; chmod o-w it", ErrUnsafe, filepath.Dir(real))
	}
	return nil
}

func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return sum(f)
}

func sum(f *os.File) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

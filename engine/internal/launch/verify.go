package launch

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Verify returns the SHA-256 of the binary, and an error where it is not the
// pinned one (empty pins nothing) or where any user may change it.
func Verify(b Binary, pin string) (string, error) {
	if err := safe(b.Path); err != nil {
		return "", fmt.Errorf("%s plugin %q: %w", b.Kind, b.Name, err)
	}
	sum, err := digest(b.Path)
	if err != nil {
		return "", fmt.Errorf("%s plugin %q: %w", b.Kind, b.Name, err)
	}
	if pin != "" && !strings.EqualFold(sum, pin) {
		return sum, mismatch(b, sum, pin)
	}
	return sum, nil
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
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

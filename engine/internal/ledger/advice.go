package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// advised adds to an error of writing below dir what its reader can do about it.
func advised(dir string, err error) error {
	what := ""
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		what = "make room for " + dir
	case errors.Is(err, syscall.EFBIG):
		what = "allow larger files (ulimit -f) in " + dir
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		what = "make " + dir + " writable"
	case errors.Is(err, syscall.ENOTDIR):
		what = "name a folder as the store: a part of " + dir + " is a file"
	case errors.Is(err, fs.ErrNotExist):
		what = dir + " is gone or was moved: put it back"
	default:
		return err
	}
	return fmt.Errorf("%w (%s)", err, what)
}

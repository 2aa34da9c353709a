package launch

import (
	"os"
	"syscall"
)

// changedAt is when anything of a file was last changed. Nobody can set it.
func changedAt(fi os.FileInfo) int64 {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return st.Ctim.Nano()
}

//go:build !linux

package launch

import "os"

// changedAt is when a file was last written to.
func changedAt(fi os.FileInfo) int64 { return fi.ModTime().UnixNano() }

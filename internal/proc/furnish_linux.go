package proc

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The kinds of layers; of two at one path the later in this list counts.
const (
	hide  = iota // empty
	fresh        // empty and writable
	temp         // the box's own folder of temporary files
	keep         // as it is, read-only
	own          // as it is
)

// layer is a mount of a box. Deeper ones lie on top of those above them.
type layer struct {
	path string
	kind int
	dir  bool
	// shown is the tree that is mounted, held by fd; back is where mount points in it
	// are made, empty for a tree that has them.
	shown, back string
	fd          int
}

// workshop is where the empty folders are made before anything is covered: on a
// file system of their own, which is put away afterwards.
const workshop = "/proc"

// furnish makes the mounts of the box, in which this process already is. ownProc
// is false where the machine does not allow another /proc.
func (o *order) furnish() (ownProc bool, err error) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return false, fmt.Errorf("mounts of its own: %w", err)
	}
	layers, err := o.layers()
	if err != nil {
		return false, err
	}
	if err := prepare(layers, o.Box.Temp); err != nil {
		return false, err
	}
	readOnly := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, readOnly); err != nil {
		return false, fmt.Errorf("read-only mounts: %w", err)
	}
	err = unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	ownProc = err == nil
	for _, l := range layers {
		if l.kind == hide || l.kind == keep {
			if err := unix.MountSetattr(l.fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, readOnly); err != nil {
				return false, fmt.Errorf("%s: read-only: %w", l.path, err)
			}
		}
		if err := unix.MoveMount(l.fd, "", unix.AT_FDCWD, l.path, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
			return false, fmt.Errorf("%s: mount: %w", l.path, err)
		}
		unix.Close(l.fd)
	}
	return ownProc, nil
}

// prepare opens what the layers show, while it can still be seen, and makes the
// empty folders and the mount points in them.
func prepare(layers []*layer, tempDir string) error {
	if err := unix.Mount("evalengine", workshop, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size=256m"); err != nil {
		return fmt.Errorf("empty folders: %w", err)
	}
	for i, l := range layers {
		switch l.kind {
		case keep, own:
			l.shown = l.path
		case temp:
			l.shown, l.back = tempDir, tempDir
		default:
			l.back = filepath.Join(workshop, strconv.Itoa(i))
			l.shown = l.back
			if err := point(l.back, l.dir); err != nil {
				return err
			}
		}
		if a := above(layers[:i], l.path); a != nil && a.back != "" {
			if err := point(a.back+strings.TrimPrefix(l.path, a.path), l.dir); err != nil {
				return err
			}
		}
	}
	for _, l := range layers {
		var err error
		if l.fd, err = unix.OpenTree(unix.AT_FDCWD, l.shown, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE); err != nil {
			return fmt.Errorf("%s: %w", l.shown, err)
		}
	}
	if err := unix.Unmount(workshop, unix.MNT_DETACH); err != nil {
		return fmt.Errorf("empty folders: %w", err)
	}
	return nil
}

// point makes a mount point.
func point(path string, dir bool) error {
	if dir {
		return os.MkdirAll(path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o444)
	if err != nil {
		return err
	}
	return f.Close()
}

// layers are the mounts that make a difference, folders before what is in them.
func (o *order) layers() ([]*layer, error) {
	var all []*layer
	add := func(kind int, paths ...string) error {
		for _, p := range paths {
			l, err := newLayer(kind, p)
			if err != nil {
				return err
			}
			if l != nil {
				all = append(all, l)
			}
		}
		return nil
	}
	for _, dir := range o.Box.Writable {
		if _, err := os.Stat(dir); err != nil {
			return nil, err
		}
	}
	hidden, temps := real(o.Box.Hidden), temp
	if o.Box.Temp == "" {
		temps = fresh
	}
	err := errors.Join(
		add(hide, hidden...), add(temps, real(o.Box.Temps)...), add(fresh, "/dev/shm"),
		add(keep, real(o.Box.Readable)...), add(keep, o.needs(append(hidden, real(o.Box.Temps)...))...), add(own, real(o.Box.Writable)...),
	)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b *layer) int {
		return cmp.Or(cmp.Compare(len(a.path), len(b.path)), cmp.Compare(a.path, b.path), cmp.Compare(b.kind, a.kind))
	})
	all = slices.CompactFunc(all, func(a, b *layer) bool { return a.path == b.path })
	var list []*layer
	for _, l := range all {
		a := above(list, l.path)
		covered := a != nil && a.kind <= temp
		switch {
		case l.kind == own, (l.kind == keep) == covered:
			list = append(list, l)
		}
	}
	return list, nil
}

// newLayer returns nil for what is not there.
func newLayer(kind int, path string) (*layer, error) {
	fi, err := os.Lstat(path)
	if err != nil {
		if kind == own {
			return nil, err
		}
		return nil, nil
	}
	return &layer{path: path, kind: kind, dir: fi.IsDir()}, nil
}

// above is the deepest layer that a path lies below.
func above(layers []*layer, path string) *layer {
	for _, l := range slices.Backward(layers) {
		if below(path, l.path) && path != l.path {
			return l
		}
	}
	return nil
}

// below reports whether path is dir or lies in it.
func below(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// real are the paths without symbolic links, of those that are there.
func real(paths []string) []string {
	var list []string
	for _, p := range paths {
		if r, err := filepath.EvalSymlinks(p); err == nil && filepath.IsAbs(r) && r != "/" {
			list = append(list, r)
		}
	}
	return list
}

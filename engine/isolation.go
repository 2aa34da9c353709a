package engine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// startsPrograms are where services listen that start programs on another's
// behalf, out of an agent's isolation.
var startsPrograms = []string{
	"/run/user", "/run/dbus", "/run/systemd/private", "/run/docker.sock", "/run/podman", "/run/containerd", "/run/crio",
}

// configFolders are variables that name folders where agents keep what they know
// of their user.
var configFolders = []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"}

// hidden are the files and folders that agents must not see: the suite with all
// that lies in its folder, and with the history that its repository has of it; the
// run store; the user's own configuration; and what would let an agent out.
func (r *run) hidden() []string {
	list := append([]string{r.o.Store.Root()}, startsPrograms...)
	home, _ := r.e.o.Environ("HOME")
	list = append(list, suiteFolder(r.s.Dir, home)...)
	for _, f := range r.s.Files {
		path := filepath.FromSlash(f.Path)
		if !filepath.IsAbs(path) {
			path = filepath.Join(r.s.Dir, path)
		}
		list = append(list, path)
	}
	path, _ := r.e.o.Environ("PATH")
	list = append(list, configuration(home, path)...)
	for _, name := range configFolders {
		if v, _ := r.e.o.Environ(name); filepath.IsAbs(v) && !within(home, v) {
			list = append(list, v)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// suiteFolder is the suite's folder and the history of the repository that it is
// in. A folder that the user's HOME lies in is left: the suite's files in it are
// hidden one by one.
func suiteFolder(dir, home string) []string {
	var list []string
	if abs, err := filepath.Abs(dir); err == nil && filepath.Dir(abs) != abs && !within(home, abs) {
		list = append(list, abs)
	}
	for up := dir; ; up = filepath.Dir(up) {
		git := filepath.Join(up, ".git")
		if fi, err := os.Stat(git); err == nil {
			if !fi.IsDir() {
				list = append(list, worktree(up, git))
			}
			return append(list, git)
		}
		if filepath.Dir(up) == up {
			return list
		}
	}
}

// worktree is the repository that a worktree's .git file leads to.
func worktree(dir, file string) string {
	b, err := os.ReadFile(file)
	if err != nil || len(b) > 4096 {
		return file
	}
	to := strings.TrimSpace(strings.TrimPrefix(string(b), "gitdir:"))
	if !filepath.IsAbs(to) {
		to = filepath.Join(dir, to)
	}
	if repo, _, ok := strings.Cut(to, string(filepath.Separator)+"worktrees"+string(filepath.Separator)); ok {
		return repo
	}
	return to
}

// configuration is what in the user's HOME has a name that begins with a dot, but
// for what a folder of PATH lies in: that holds programs.
func configuration(home, path string) []string {
	if !filepath.IsAbs(home) {
		return nil
	}
	entries, err := os.ReadDir(home)
	if err != nil {
		return nil
	}
	folders := filepath.SplitList(path)
	for _, f := range folders {
		if real, err := filepath.EvalSymlinks(f); err == nil {
			folders = append(folders, real)
		}
	}
	var list []string
	for _, e := range entries {
		full := filepath.Join(home, e.Name())
		programs := slices.ContainsFunc(folders, func(f string) bool { return within(f, full) })
		if strings.HasPrefix(e.Name(), ".") && !programs {
			list = append(list, full)
		}
	}
	return list
}

// within reports whether path is dir or lies in it.
func within(path, dir string) bool {
	path, dir = filepath.Clean(path), filepath.Clean(dir)
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

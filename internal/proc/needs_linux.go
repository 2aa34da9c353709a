package proc

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// needs are the files and folders that the command line needs, wherever they lie:
//
//   - the program and every symbolic link on the way to it, and the same of a
//     script that is its first argument and of the interpreter that a script names:
//     each with the folder that it is installed in (see [install]);
//   - the files and folders that other arguments name by their whole path;
//   - the folders of PATH.
//
// None of it uncovers a folder that is itself hidden.
func (o *order) needs(hidden []string) []string {
	var list []string
	add := func(p string) {
		if p != "" && !slices.Contains(hidden, p) && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	programs := []string{o.Path}
	for i, arg := range o.Args[min(1, len(o.Args)):] {
		if i == 0 && filepath.IsAbs(arg) {
			programs = append(programs, arg)
		} else if filepath.IsAbs(arg) {
			add(resolved(arg))
		}
	}
	for _, p := range programs {
		for _, f := range links(p) {
			add(install(f, hidden))
			if i := interpreter(f); i != "" {
				for _, f := range links(i) {
					add(install(f, hidden))
				}
			}
		}
	}
	for _, v := range o.Env {
		path, _ := strings.CutPrefix(v, "PATH=")
		for _, dir := range filepath.SplitList(path) {
			if path != v && filepath.IsAbs(dir) {
				add(folder(resolved(dir)))
			}
		}
	}
	return list
}

// install is what a program's file needs around it: the outermost node_modules,
// the Python environment or else the folder that it lies in; the file alone where
// that folder is hidden.
func install(file string, hidden []string) string {
	if fi, err := os.Stat(file); err != nil || fi.IsDir() {
		return ""
	}
	if dir := folder(filepath.Dir(file)); !slices.Contains(hidden, dir) {
		return dir
	}
	return file
}

// folder is the outermost node_modules or the Python environment that a folder is
// part of, or else the folder.
func folder(dir string) string {
	if i := strings.Index(dir+"/", "/node_modules/"); i >= 0 {
		return dir[:i] + "/node_modules"
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(dir), "pyvenv.cfg")); err == nil {
		return filepath.Dir(dir)
	}
	return dir
}

// links are a path and where its symbolic link leads, link after link, each with
// the folders above it resolved.
func links(path string) []string {
	var list []string
	for range 40 {
		path = filepath.Join(resolved(filepath.Dir(path)), filepath.Base(path))
		list = append(list, path)
		to, err := os.Readlink(path)
		if err != nil {
			return list
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return list
}

// resolved is a path without symbolic links, or as it is where there is none.
func resolved(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return path
}

// interpreter is the program that a script names in its first line.
func interpreter(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.LimitReader(f, 256)).ReadBytes('\n')
	rest, ok := bytes.CutPrefix(line, []byte("#!"))
	if !ok {
		return ""
	}
	fields := strings.Fields(string(rest))
	if len(fields) == 0 || !filepath.IsAbs(fields[0]) {
		return ""
	}
	return fields[0]
}

package cli

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
)

// scaffold is the suite that init writes.
//
//go:embed all:scaffold
var scaffold embed.FS

func (a *app) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a suite that runs at once",
		Long: `Write a small suite into DIR (the working folder by default): one story on the
site builder, run by the scripted host, with the agents' hosts ready to be used.
Files that are there are left alone: then nothing is written.`,
		Example: "  evalengine init demo && evalengine run demo/suite.hcl",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			return a.init(dir)
		},
	}
}

func (a *app) init(dir string) error {
	files, err := fs.Sub(scaffold, "scaffold")
	if err != nil {
		return err
	}
	var names []string
	err = fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		switch _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); {
		case err == nil:
			return fmt.Errorf("init: %s is there already; nothing was written", filepath.Join(dir, name))
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("init: %w; nothing was written", err)
		}
		names = append(names, name)
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := write(files, name, dir); err != nil {
			return fmt.Errorf("init: %w", err)
		}
	}
	if a.json {
		return a.writeJSON(map[string]any{"dir": dir, "files": names})
	}
	suite := filepath.Join(dir, "suite.hcl")
	_, err = fmt.Fprintf(a.out, "wrote %s\nnext: evalengine run %s\n", suite, shellWord(suite))
	return err
}

// shellWord is a path as it can be typed after a command: no flag, and quoted
// where a shell would take it apart.
func shellWord(path string) string {
	if strings.HasPrefix(path, "-") {
		path = "./" + path
	}
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/._-+:@%,=", r)
	}
	if !strings.ContainsFunc(path, func(r rune) bool { return !plain(r) }) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

func write(files fs.FS, name, dir string) error {
	b, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(path.Dir(name))), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), b, 0o644)
}

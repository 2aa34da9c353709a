package capture

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/evalengine/evalengine/engine/eval"
)

// programs are the names that browsers which the engine can drive are installed
// under, the first that is found counts.
func programs() []string {
	names := []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "chromium-headless-shell", "microsoft-edge-stable", "microsoft-edge"}
	switch runtime.GOOS {
	case "darwin":
		for _, app := range []string{"Google Chrome", "Chromium", "Microsoft Edge"} {
			names = append(names, "/Applications/"+app+".app/Contents/MacOS/"+app)
		}
	case "windows":
		for _, base := range []string{os.Getenv("ProgramFiles"), os.Getenv("ProgramFiles(x86)"), os.Getenv("LocalAppData")} {
			names = append(names, filepath.Join(base, `Google\Chrome\Application\chrome.exe`))
		}
	}
	return names
}

// Find returns the browser that takes pages: the program that the suite names, or
// the first that is installed. A DevTools address needs no program: the path is
// empty then.
func Find(cfg eval.BrowserConfig) (string, error) {
	if cfg.URL != "" {
		return "", nil
	}
	if cfg.Path != "" {
		path, err := exec.LookPath(cfg.Path)
		if err != nil {
			return "", fmt.Errorf("browser %q: %w; correct its path, or leave it out to use an installed one", cfg.Path, err)
		}
		return path, nil
	}
	for _, name := range programs() {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no browser found; %s, or name one: browser { path = ... } for a program, browser { url = ... } for a DevTools address", hint())
}

// hint says how a browser is installed here.
func hint() string {
	if _, err := exec.LookPath("apt-get"); err == nil {
		return "install one (apt-get install chromium)"
	}
	return "install Chromium or Google Chrome"
}

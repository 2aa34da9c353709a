package launch

import (
	"slices"
	"strings"
)

// allowed are the variables of the engine's environment that a plugin sees. None
// of them holds a secret: keys reach a plugin in a session's or target's own
// environment, by the suite's allow-list.
var allowed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ",
	"LANG", "LC_ALL", "LC_CTYPE", "SSL_CERT_FILE", "SSL_CERT_DIR",
}

// environment filters KEY=value entries by the allow-list and more names.
func environment(environ, more []string) []string {
	var env []string
	for _, kv := range environ {
		k, _, _ := strings.Cut(kv, "=")
		if slices.Contains(allowed, k) || slices.Contains(more, k) {
			env = append(env, kv)
		}
	}
	return env
}

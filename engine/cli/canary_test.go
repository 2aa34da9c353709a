package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/evalengine/evalengine/engine/internal/npmtest"
)

// The canaries: what stands before the first odd character must not be met in
// any form, also where the rest was cut off.
const (
	agentCanary    = `agentcanary81"/+<é> -&`
	targetCanary   = `targetcanary7\"/+<é> -&`
	modelCanary    = `modelcanary-Q7/+zz91`
	variableCanary = `sensitivecanary"5/+<é`
)

// encoded are forms of a value that agents and servers write.
func encoded(value string) []string {
	quoted, _ := json.Marshal(value)
	var units, percents strings.Builder
	for _, r := range value {
		fmt.Fprintf(&units, `\u%04X`, r)
	}
	for _, c := range []byte(value) {
		fmt.Fprintf(&percents, "%%%02x", c)
	}
	var entities, printable strings.Builder
	var wide []byte
	for _, r := range value {
		fmt.Fprintf(&entities, "&#x%X;", r)
		wide = binary.LittleEndian.AppendUint16(wide, uint16(r))
	}
	for _, c := range []byte(value) {
		fmt.Fprintf(&printable, "=%02X", c)
	}
	out := []string{value, string(quoted), html.EscapeString(value), entities.String(), printable.String(), base64.StdEncoding.EncodeToString(wide),
		"https://shots.example/home.png?width=1280&token=" + url.QueryEscape(value) + "&full=1", units.String(), percents.String(), url.QueryEscape(value), url.PathEscape(value),
		hex.EncodeToString([]byte(value)), strings.ToUpper(hex.EncodeToString([]byte(value)))}
	for shift := range 3 {
		text := []byte("::"[:shift] + value + "tail")
		if shift == 0 {
			text = []byte(value)
		}
		out = append(out, base64.StdEncoding.EncodeToString(text), base64.RawURLEncoding.EncodeToString(text))
	}
	return out
}

// stems are what must not be found of a canary: forms of its beginning.
func stems(value string) []string {
	stem := value[:12]
	var units, percents strings.Builder
	for _, c := range []byte(stem) {
		fmt.Fprintf(&units, `u%04x`, c)
		fmt.Fprintf(&percents, "%%%02x", c)
	}
	var entities, printable, decimal strings.Builder
	var wide []byte
	for _, c := range []byte(stem) {
		fmt.Fprintf(&entities, "&#x%x;", c)
		fmt.Fprintf(&decimal, "&#%d;", c)
		fmt.Fprintf(&printable, "=%02x", c)
		wide = append(wide, c, 0)
	}
	out := []string{stem, entities.String(), decimal.String(), printable.String(), base64.RawStdEncoding.EncodeToString(wide), units.String(), percents.String(), hex.EncodeToString([]byte(stem))}
	for shift := range 3 {
		code := base64.RawStdEncoding.EncodeToString([]byte("::"[:shift] + stem))
		// Without the characters that the neighbours touch.
		out = append(out, code[[]int{0, 2, 3}[shift]:len(code)-1])
	}
	return out
}

// leaks lists which canaries b holds, in what form.
func leaks(b []byte, canaries []string) []string {
	flat := strings.ToLower(strings.ReplaceAll(string(b), `\`, ""))
	text := string(b) + "\x00" + flat
	var out []string
	for _, c := range canaries {
		for _, s := range stems(c) {
			if strings.Contains(text, s) {
				at := strings.Index(text, s)
				out = append(out, fmt.Sprintf("%q in %q", s, text[max(0, at-60):min(len(text), at+60)]))
			}
		}
	}
	return out
}

// noLeaks looks through every file below a folder.
func noLeaks(t *testing.T, what, dir string, canaries []string) (files int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		if strings.HasSuffix(path, ".zst") {
			d, derr := zstd.NewReader(bytes.NewReader(b))
			if derr != nil {
				return derr
			}
			defer d.Close()
			b, err = io.ReadAll(d)
		}
		for _, l := range leaks(b, canaries) {
			t.Errorf("%s: %s: %s", what, path, l)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return files
}

// canaryServer is an MCP server that gives away what it knows, as a shell script.
const canaryServer = `echo "$TOKEN" >> "$KEEP/tokens"
echo "starting with $TOKEN $SEEN" >&2
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
  *'"initialize"'*) r='"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}' ;;
  *'"tools/list"'*) r='"result":{"tools":[{"name":"say","description":"token '$TOKEN'","inputSchema":{"type":"object"}},{"name":"fail","inputSchema":{"type":"object"}}]}' ;;
  *'"fail"'*) r='"error":{"code":-32602,"message":"bad token '$TOKEN' of '$(printf %s "$TOKEN" | base64 -w0)'"}' ;;
  *'"tools/call"'*)
    args=$(printf '%s' "$line" | sed -n 's/.*"text":\("\([^"\\]\|\\.\)*"\).*/\1/p')
    r='"result":{"content":[{"type":"text","text":'${args:-'""'}'},{"type":"text","text":"'$(tr '\0' ' ' </proc/$$/cmdline)' https://shots.example/x.png?t='$TOKEN' '$(printf 'x%s' "$TOKEN" | base64 -w0)' '$(printf %s "$TOKEN" | od -An -tx1 | tr -d ' \n')'"}]}' ;;
  *) r='"error":{"code":-32601,"message":"no such method"}' ;;
  esac
  [ -n "$id" ] && printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$r"
done
`

const canarySuite = `
suite "canary" {
  retries = 0
}
variable "pass" {
  sensitive = true
}
host "shell" {
  driver    = "shell"
  isolation = "none" # it reads what it tells from the suite's folder
  env       = ["AGENT_KEY"]
}
host "scripted" {
  driver = "scripted"
  config { scripts = { echo = file("echo.json") } }
}
host "claude" {
  driver = "claude-code"
  config {
    base_url    = %q
    api_key_env = "MODEL_KEY"
    model       = "claude-sonnet-4-5"
  }
}
target "echo" {
  provisioner = "command"
  env         = ["TARGET_KEY"]
  config {
    name    = "echo"
    command = ["sh", "${path.suite}/server.sh", "--token={token}"]
    env     = { TOKEN = "{token}", SEEN = "{env:TARGET_KEY}", KEEP = path.suite }
    values  = { token = "{token}", other = "{env:TARGET_KEY}" }
    files   = { "state.txt" = "{token} {env:TARGET_KEY}" }
  }
}
target "broken" {
  provisioner = "command"
  env         = ["TARGET_KEY"]
  config {
    command = ["sh"]
    setup   = [["sh", "-c", "cat '${path.suite}/forms.txt'; echo no place for $SEEN with {token} >&2; exit 3"]]
    env     = { SEEN = "{env:TARGET_KEY}" }
  }
}
story "tell" {
  hosts  = [host.shell]
  prompt = "cat '${path.suite}/forms.txt'; env; cat '${path.suite}/forms.txt' >&2; exit 4"
  check "never" {
    condition     = answer == ""
    error_message = "the agent said ${answer}"
  }
}
story "wait" {
  hosts  = [host.shell]
  prompt = "cat '${path.suite}/forms.txt'; env; if [ ! -e '${path.suite}/flag' ]; then echo > '${path.suite}/flag'; sleep 600; fi"
  assert "answer/contains" { value = "nothing" }
}
story "echo" {
  hosts  = [host.scripted]
  target = target.echo
  prompt = "say ${var.pass} of ${target.token}"
  check "never" {
    condition     = state.files["state.txt"] == ""
    error_message = "the state is ${state.files["state.txt"]} and ${target.other}"
  }
  assert "answer/contains" { value = "nothing" }
}
story "broken" {
  hosts  = [host.scripted]
  target = target.broken
  prompt = "x"
}
story "model" {
  hosts  = [host.claude]
  target = target.echo
  prompt = "say ${var.pass}"
}
`

// No secret that the engine knows is in anything that it writes or shows, in
// whatever form agents and servers give it away, also when it was killed.
func TestCanaries(t *testing.T) {
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		message, _ := json.Marshal("no such key " + r.Header.Get("X-Api-Key") + r.Header.Get("Authorization") + " for " + string(body[:min(len(body), 2000)]))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"type":"error","error":{"type":"authentication_error","message":%s}}`, message)
	}))
	defer model.Close()
	plugins, suite, dir := t.TempDir(), t.TempDir(), t.TempDir()
	inExample(t, "custom-host", nil, "build", "-o", filepath.Join(plugins, "evalengine-host-shell"), ".")
	known := []string{agentCanary, targetCanary, variableCanary, modelCanary}
	var forms []string
	var steps []any
	for _, c := range known {
		for _, f := range encoded(c) {
			forms = append(forms, f)
			steps = append(steps, map[string]any{"call": map[string]any{"tool": "say", "arguments": map[string]string{"text": f}}})
		}
	}
	steps = append(steps, map[string]any{"call": map[string]any{"tool": "fail", "arguments": map[string]string{}}},
		map[string]any{"say": strings.Join(forms, "\n")})
	script, err := json.Marshal(map[string]any{"turns": []any{map[string]any{"steps": steps}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"suite.hcl": fmt.Sprintf(canarySuite, model.URL), "server.sh": canaryServer,
		"echo.json": string(script), "forms.txt": strings.Join(forms, "\n") + "\n",
	} {
		if err := os.WriteFile(filepath.Join(suite, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"tmp", "home"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(programs(t), "evalengine"), args...)
		cmd.Dir = dir
		cmd.Env = environ("PATH="+filepath.Dir(npmtest.Bin(t, "claude"))+string(os.PathListSeparator)+os.Getenv("PATH"),
			"HOME="+filepath.Join(dir, "home"), "TMPDIR="+filepath.Join(dir, "tmp"), "EVALENGINE_CACHE="+filepath.Join(dir, "cache"),
			"EVALENGINE_PLUGIN_PATH="+plugins, "AGENT_KEY="+agentCanary, "TARGET_KEY="+targetCanary, "MODEL_KEY="+modelCanary,
			"EVALENGINE_VAR_pass="+variableCanary)
		return cmd
	}
	// The run is killed while an agent is under way that has told all.
	first := run("run", filepath.Join(suite, "suite.hcl"), "--host", "*", "-j", "3", "-v", "--bodies", "-o", "out.json", "--var", "pass="+variableCanary)
	var shown bytes.Buffer
	first.Stdout, first.Stderr = &shown, &shown
	first.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- first.Wait() }()
	for tick := time.NewTicker(5 * time.Millisecond); !ready(filepath.Join(suite, "flag")); {
		select {
		case err := <-ended:
			t.Fatalf("the run ended by itself: %v\n%s", err, shown.Bytes())
		case <-tick.C:
		}
	}
	first.Process.Kill()
	<-ended
	canaries := func() []string {
		tokens, err := os.ReadFile(filepath.Join(suite, "tokens"))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return append(strings.Fields(string(tokens)), known...)
	}
	noLeaks(t, "killed", filepath.Join(dir, ".evalengine"), canaries())
	for i, args := range [][]string{
		{"resume", "latest", "-j", "3", "-v", "--bodies", "-o", "out.json", "--json"},
		{"run", filepath.Join(suite, "suite.hcl"), "--host", "*", "-j", "1", "--no-preflight", "-o", "out.txt"},
		{"show", "latest"}, {"show", "latest", "echo"}, {"show", "latest", "tell", "--json"}, {"show", "latest", "broken"},
	} {
		cmd := run(args...)
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); i < 2 && code != exitFailed {
			t.Errorf("%v: exit code %d; want %d\n%s", args, code, exitFailed, out)
		}
		shown.Write(out)
	}
	for _, l := range leaks(shown.Bytes(), canaries()) {
		t.Errorf("shown: %s", l)
	}
	if n := noLeaks(t, "in the end", dir, canaries()); n < 40 {
		t.Errorf("%d files were looked through", n)
	}
	if len(canaries()) < 6 || !bytes.Contains(shown.Bytes(), []byte("[secret]")) {
		t.Errorf("canaries %q; %d bytes shown", canaries(), shown.Len())
	}
}

func ready(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

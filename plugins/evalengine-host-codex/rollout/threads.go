package rollout

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/evalengine/evalengine/plugins/host/agentout"
)

// maxThreads bounds the sub-agents of a thread that are read.
const maxThreads = 64

// Thread is the session file of a sub-agent.
type Thread struct{ ID, Path string }

// Below returns the threads that were started by the thread, or by one of those,
// each after the one that started it.
func Below(codexHome, thread string) []Thread {
	var list []Thread
	all := threads(codexHome)
	above := map[string]bool{thread: true}
	for grown := true; grown; {
		grown = false
		for _, t := range all {
			if above[t.parent] && !above[t.ID] && len(list) < maxThreads {
				above[t.ID], grown = true, true
				list = append(list, t.Thread)
			}
		}
	}
	return list
}

type child struct {
	Thread
	parent string
}

// threads are the files of all threads that another one started, by the time in
// their names.
func threads(codexHome string) []child {
	var list []child
	seen := 0
	_ = filepath.WalkDir(filepath.Join(codexHome, "sessions"), func(path string, d fs.DirEntry, err error) error {
		if seen++; err != nil || seen > 10_000 {
			return fs.SkipAll
		}
		if d.Type().IsRegular() && strings.HasPrefix(d.Name(), "rollout-") && strings.HasSuffix(d.Name(), ".jsonl") {
			if id, parent := meta(path); id != "" && parent != "" && id != parent {
				list = append(list, child{Thread{id, path}, parent})
			}
		}
		return nil
	})
	return list
}

// meta reads a file's first line.
func meta(path string) (id, parent string) {
	f, err := os.Open(path)
	if err != nil {
		return "", ""
	}
	defer f.Close()
	line, _, ok := readLine(bufio.NewReaderSize(f, 64<<10))
	var r struct {
		Type    string  `json:"type"`
		Payload payload `json:"payload"`
	}
	if !ok || agentout.Decode(line, &r) != nil || r.Type != "session_meta" || !threadID.MatchString(r.Payload.ID) {
		return "", ""
	}
	return r.Payload.ID, r.Payload.Above
}

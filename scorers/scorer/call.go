package scorer

import "errors"

// Errors of [Call].
var (
	// ErrCancelled is returned when the trial or run ended.
	ErrCancelled = errors.New("cancelled")
	// ErrDenied is returned when the suite did not grant the capability, or the
	// scorer's spec does not list it.
	ErrDenied = errors.New("capability denied")
	// ErrUnknown is returned when the engine does not have the capability.
	ErrUnknown = errors.New("unknown capability")
	// ErrFailed is returned when the capability itself failed.
	ErrFailed = errors.New("capability failed")
	// ErrTooLarge is returned when the request or the response passed its limit.
	ErrTooLarge = errors.New("request or response too large")
)

// Level of a log line.
type Level int

// Levels of [Log].
const (
	LevelDebug Level = iota
	LevelInfo
	LevelWarn
	LevelError
)

// Door is the way out of a scorer: in a module the engine, in a test a fake.
type Door interface {
	Call(op string, request []byte) ([]byte, error)
	Log(level Level, message string)
}

// door is set while [Serve] runs. A module is single-threaded by nature.
var door Door = closed{}

type closed struct{}

func (closed) Call(string, []byte) ([]byte, error) { return nil, ErrDenied }
func (closed) Log(Level, string)                   {}

// Call asks the engine for something that a pure function cannot do, by the name
// and version of a capability such as "model.complete/1". The scorer's spec lists
// the capabilities that it calls. The error is one of the Err variables.
func Call(op string, request []byte) ([]byte, error) { return door.Call(op, request) }

// Log adds a line to the log that is kept with the trial; what is over the
// module's limit is dropped.
func Log(level Level, message string) { door.Log(level, message) }

package proc

// Box says how a program is kept apart from the rest of the machine. The zero Box
// keeps together what the program starts and hides nothing.
type Box struct {
	// Namespaces gives the program user, mount, process and IPC namespaces of its
	// own. All below is for these alone.
	Namespaces bool `json:"namespaces,omitempty"`
	// Hidden are files and folders that look empty, but for what is below them in
	// the lists that follow and what the command line needs.
	Hidden []string `json:"hidden,omitempty"`
	// Writable are the only folders that can be written to.
	Writable []string `json:"writable,omitempty"`
	// Readable are files and folders that stay readable whatever is hidden.
	Readable []string `json:"readable,omitempty"`
	// Temp is a writable folder that stands in for each of Temps, the folders where
	// all programs of the machine leave temporary files.
	Temp  string   `json:"temp,omitempty"`
	Temps []string `json:"temps,omitempty"`
}

// Boxed says what came of a [Box].
type Boxed struct {
	// Namespaces says that the program has them, OwnProc that its /proc shows no
	// processes but its own.
	Namespaces, OwnProc bool
}

package eval

// Page is a captured page of the target. Its rendered HTML, accessibility tree and
// pictures are files of the trial: pages/NAME.html, NAME.ax.json and NAME.png.
type Page struct {
	Name string `json:"name"`
	// URL is the one asked for, FinalURL the one where the browser ended.
	URL      string `json:"url"`
	FinalURL string `json:"final_url,omitempty"`
	Title    string `json:"title,omitempty"`
	// Status is the HTTP status of the document, 0 where there was none.
	Status int    `json:"status,omitempty"`
	Shots  []Shot `json:"shots,omitempty"`
	// Console has what the page wrote to its console as errors or warnings, and
	// uncaught exceptions; at most the first few hundred.
	Console []ConsoleMessage `json:"console,omitempty"`
	// Failed are requests that got no answer, or one of 400 and above.
	Failed []FailedRequest `json:"failed_requests,omitempty"`
	// Requests counts all requests, Bytes what came over the wire for them.
	Requests int   `json:"requests"`
	Bytes    int64 `json:"bytes"`
	// Unsettled says what had not come to rest when the page was taken.
	Unsettled []string `json:"unsettled,omitempty"`
	// Error says why the page could not be taken; the rest is incomplete then.
	Error string `json:"error,omitempty"`
	// Seconds is how long it took.
	Seconds float64 `json:"seconds,omitempty"`
	// HTML is the rendered document over the flattened tree: shadow roots and
	// frames of the same origin are in it, templates are not.
	HTML []byte `json:"-"`
	// Accessibility is the browser's accessibility tree: a JSON array of
	// {"role", "name", "level", "children"}, ignored nodes left out.
	Accessibility JSON `json:"-"`
}

// Shot is a page's picture at one viewport.
type Shot struct {
	Viewport Viewport `json:"viewport"`
	// Scale is device pixels for each CSS pixel.
	Scale float64 `json:"scale"`
	// Height is the page's in CSS pixels, Covered how much of it the tiles show.
	Height  int `json:"height"`
	Covered int `json:"covered"`
	// Tiles show the page from the top, each below the one before.
	Tiles []Tile `json:"tiles"`
}

// Tile is one PNG of a shot.
type Tile struct {
	// Y is where it begins, in CSS pixels.
	Y int `json:"y"`
	// Width and Height are the picture's own, in device pixels.
	Width  int `json:"width"`
	Height int `json:"height"`
	// File is its name in the pages folder.
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
	PNG    []byte `json:"-"`
}

// ConsoleMessage is something that a page wrote to its console.
type ConsoleMessage struct {
	// Level is error, warning or exception.
	Level string `json:"level"`
	Text  string `json:"text"`
	// URL and Line say where, if known.
	URL  string `json:"url,omitempty"`
	Line int    `json:"line,omitempty"`
}

// FailedRequest is a request of a page that did not succeed.
type FailedRequest struct {
	URL    string `json:"url"`
	Method string `json:"method"`
	// Kind is what it was for: document, script, stylesheet, image, font, fetch or
	// other.
	Kind string `json:"kind"`
	// Status is the HTTP status, 0 where there was no answer.
	Status int    `json:"status,omitempty"`
	Error  string `json:"error,omitempty"`
	// Blocked says that the engine refused it: the suite does not let pages reach
	// that origin.
	Blocked bool `json:"blocked,omitempty"`
}

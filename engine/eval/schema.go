package eval

// Schema describes the parameters that a plugin's config block or a scorer
// takes. The engine checks the suite against it before anything runs.
type Schema struct {
	Attributes []Attribute `json:"attributes"`
}

// Attribute is one parameter.
type Attribute struct {
	Name string `json:"name"`
	// Type is an HCL type expression: string, number, bool, any, list(string),
	// map(string), set(number), object({ name = string }) and so on.
	Type     string `json:"type"`
	Required bool   `json:"required,omitempty"`
	// Default is what the attribute is when it is left out; absent means null.
	Default JSON   `json:"default,omitzero"`
	Doc     string `json:"doc,omitempty"`
	// Enum lists the allowed values of a string; empty allows all.
	Enum []string `json:"enum,omitempty"`
	// Format is the language that a string, or each of a list of strings, is written
	// in: one of the Format constants. A format that the reader does not know is not
	// checked.
	Format string `json:"format,omitempty"`
	// Secret marks a value that must never reach a record or a log.
	Secret bool `json:"secret,omitempty"`
}

// Formats of attributes.
const (
	FormatRegex   = "regex"   // a regular expression as of Go's package regexp (RE2)
	FormatPointer = "pointer" // a JSON Pointer (RFC 6901)
)

// Attribute returns the attribute of that name, and whether there is one.
func (s Schema) Attribute(name string) (Attribute, bool) {
	for _, a := range s.Attributes {
		if a.Name == name {
			return a, true
		}
	}
	return Attribute{}, false
}

// Description is what a plugin says of itself.
type Description struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Doc     string `json:"doc,omitempty"`
	// Capabilities are optional powers by name, such as "multi_turn" or "usage".
	// They only ever grow; the engine asks for what it finds and does without
	// what it does not.
	Capabilities []string `json:"capabilities,omitempty"`
	Schema       Schema   `json:"schema"`
	// Model is set by a host whose model traffic the engine can route through
	// its model proxy; nil where the host has no model.
	Model *ModelUse `json:"model,omitempty"`
	// Needs are the programs and settings the plugin depends on, for doctor.
	Needs []Need `json:"needs,omitempty"`
}

// Has reports whether the plugin has the capability.
func (d Description) Has(capability string) bool {
	return contains(d.Capabilities, capability)
}

// Capabilities that the engine knows of. A host says what it can do; what it
// lacks costs a feature, never an error.
const (
	CapMultiTurn = "multi_turn"  // Session.Turn may be called more than once
	CapMCPHTTP   = "mcp_http"    // connects to streamable HTTP endpoints
	CapMCPStdio  = "mcp_stdio"   // must be given the engine's stdio shim
	CapUsage     = "usage"       // reports tokens of its own
	CapNoFolders = "no_folders"  // needs neither HOME nor working folder
	CapInProcess = "in_process"  // starts no process of its own per session
	CapReusable  = "shared_host" // one plugin process can hold many sessions at once
	CapIsolation = "isolation"   // keeps its agent from what is not its own, on this machine
)

// ModelUse says how a host reaches its model, so that the engine can stand in
// between.
type ModelUse struct {
	// API is the wire protocol: "anthropic-messages", "openai-responses" or
	// "openai-chat".
	API string `json:"api"`
	// DefaultBaseURL is where the host goes when the suite gives no base_url.
	DefaultBaseURL string `json:"default_base_url"`
	// KeyEnv is the environment variable that holds the key by default.
	KeyEnv string `json:"key_env"`
}

// Need is something a plugin depends on outside itself.
type Need struct {
	// Name is what is needed, for example "claude".
	Name string `json:"name"`
	// Version is what was found, empty where it is missing.
	Version string `json:"version,omitempty"`
	// Path is where it was found.
	Path string `json:"path,omitempty"`
	// Install is the command that gets it.
	Install string `json:"install,omitempty"`
}

package guard

// Tool describes a tool for checks of expressions about its calls.
type Tool struct {
	Name   string
	Effect string // "" if unknown
	Input  any    // decoded JSON Schema of its arguments
	// Fixed are the arguments that the spec fixes: every call has them.
	Fixed []string
	// Texts is set if the arguments are text only because there is no schema.
	Texts bool
	// Server is set if it represents the unknown tools of the server Name, which is
	// not pinned.
	Server bool
}

// WithTools returns the environment of expressions about the calls of tools.
// Completion then offers their arguments; tools named in the expression come
// first. The slice is not copied.
func (e Env) WithTools(tools []Tool) Env {
	e.tools = tools
	return e
}

// Tools returns the tools of WithTools.
func (e Env) Tools() []Tool { return e.tools }

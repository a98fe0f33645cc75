package guard

// Tool is a tool as expressions about its calls are checked.
type Tool struct {
	Name   string
	Effect string // "" = not known
	Input  any    // JSON Schema of its arguments, decoded
	// Fixed are arguments that the spec fixes: a call always has them.
	Fixed []string
	// Texts says that the arguments are text only because no schema was written.
	Texts bool
	// Server says that it stands for the tools of the server Name, which are not
	// known: nothing is pinned of it.
	Server bool
}

// WithTools is the environment of expressions about the calls of tools: completion
// then knows their arguments, those of tools that a text in the expression names
// before others. The tools are kept.
func (e Env) WithTools(tools []Tool) Env {
	e.tools = tools
	return e
}

// Tools are the tools of WithTools.
func (e Env) Tools() []Tool { return e.tools }

package component

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ModelRef names an LLM of the spec. A Config with a ModelRef accepts all llm keys
// (temperature, model, ...) next to it as overrides; the compiler gives the combination a
// name of its own.
type ModelRef struct{ Name string }

// Lookup returns the value of a reference in a template, with ns and name as written
// ("parameters", "user.name"). A value is a string, segments ([]string) or any JSON
// value. ok is false if the name is unknown.
type Lookup func(ns, name string) (value any, ok bool)

// TooLarge reports that a template renders to more bytes than allowed. Render panics with
// it, since most templates cannot fail; the engine and the commands that render recover
// it.
type TooLarge struct {
	Template string // where it is written
	Limit    int    // bytes
}

// Error names the template and the limit.
func (e *TooLarge) Error() string {
	return fmt.Sprintf("%s: the template renders to more than %d MiB", e.Template, e.Limit>>20)
}

// CatchTooLarge sets *err when Render panics with TooLarge. It is for defer:
//
//	defer component.CatchTooLarge(&err)
func CatchTooLarge(err *error) {
	switch p := recover().(type) {
	case nil:
	case *TooLarge:
		*err = p
	default:
		panic(p)
	}
}

// PromptRef is a prompt: inline text, {file: ...} or {use: name}.
type PromptRef struct {
	Text   string // the source, after files and names are resolved
	File   string
	Use    string
	render func(Lookup) []string
	names  []string
}

// Inline returns a PromptRef for a default text; the compiler compiles it like any other.
func Inline(text string) PromptRef { return PromptRef{Text: text} }

// Bind sets the compiled form; for the compiler. names lists the references of the
// template, "ns.name".
func (p *PromptRef) Bind(render func(Lookup) []string, names []string) {
	p.render, p.names = render, names
}

// IsZero reports whether nothing was written.
func (p PromptRef) IsZero() bool { return p.Text == "" && p.File == "" && p.Use == "" }

// References returns the names in the template, "ns.name", in order. The caller must not
// change them.
func (p PromptRef) References() []string { return p.names }

// Uses reports whether the template refers to a name ("parameters.steps").
func (p PromptRef) Uses(name string) bool {
	return slices.Contains(p.names, name)
}

// Render renders the template in one pass; values are data and never parsed again.
func (p PromptRef) Render(l Lookup) []string {
	if p.render == nil {
		return []string{p.Text}
	}
	return p.render(l)
}

// Template is a string with references, such as a URL or an argument.
type Template struct {
	Text   string
	render func(Lookup) []string
}

// Bind sets the compiled form; for the compiler.
func (t *Template) Bind(render func(Lookup) []string) { t.render = render }

// Render renders the template.
func (t Template) Render(l Lookup) string {
	if t.render == nil {
		return t.Text
	}
	return strings.Join(t.render(l), "")
}

// Visit calls look for each reference of the template.
func (t Template) Visit(l Lookup) { t.Render(l) }

// GuardRef is a boolean expression.
type GuardRef struct {
	Source string
	eval   func(map[string]any) (bool, error)
}

// Bind sets the compiled form; for the compiler.
func (g *GuardRef) Bind(eval func(map[string]any) (bool, error)) { g.eval = eval }

// IsZero reports whether nothing was written.
func (g GuardRef) IsZero() bool { return g.Source == "" }

// String returns the source.
func (g GuardRef) String() string { return g.Source }

// Equal reports whether two expressions have the same source.
func (g GuardRef) Equal(o GuardRef) bool { return g.Source == o.Source }

// Eval evaluates the expression; one that was not written is true.
func (g GuardRef) Eval(env map[string]any) (bool, error) {
	if g.Source == "" {
		return true, nil
	}
	if g.eval == nil {
		return false, errors.New("guard " + g.Source + " was not compiled")
	}
	return g.eval(env)
}

// SchemaRef is a JSON Schema: inline, {file: ...} or {use: name}.
type SchemaRef struct {
	JSON     json.RawMessage // the schema, resolved
	File     string
	Use      string
	compiled CompiledSchema
}

// CompiledSchema validates values against a schema.
type CompiledSchema interface {
	Validate(v any) error
	// TakesText reports whether the schema names string as a type of the value.
	TakesText() bool
	// Current returns the schema in the newest draft.
	Current() json.RawMessage
}

// Bind sets the compiled form; for the compiler.
func (s *SchemaRef) Bind(compiled CompiledSchema) { s.compiled = compiled }

// TakesText reports whether the schema names string as a type of the value. A schema
// without types does not.
func (s SchemaRef) TakesText() bool { return s.compiled != nil && s.compiled.TakesText() }

// IsZero reports whether nothing was written.
func (s SchemaRef) IsZero() bool { return len(s.JSON) == 0 && s.File == "" && s.Use == "" }

// Current returns the schema in the newest draft, for models that enforce it. It may
// allow more than the schema, so Validate still decides.
func (s SchemaRef) Current() json.RawMessage {
	if s.compiled == nil {
		return s.JSON
	}
	return s.compiled.Current()
}

// Validate validates a value decoded from JSON with numbers as json.Number. The error
// lists every violation with its place, one per line.
func (s SchemaRef) Validate(v any) error {
	if s.compiled == nil {
		return nil
	}
	return s.compiled.Validate(v)
}

// FilterRef is an RFC 9535 JSONPath.
type FilterRef struct {
	Source string
	apply  func(any) ([]any, error)
}

// Bind sets the compiled form; for the compiler.
func (f *FilterRef) Bind(apply func(any) ([]any, error)) { f.apply = apply }

// IsZero reports whether nothing was written.
func (f FilterRef) IsZero() bool { return f.Source == "" }

// Apply selects nodes of a decoded JSON value; a filter that was not written returns the
// value.
func (f FilterRef) Apply(v any) ([]any, error) {
	if f.apply == nil {
		return []any{v}, nil
	}
	return f.apply(v)
}

// AgentRef names another spec by file. It is compiled with the spec that names it.
type AgentRef struct {
	File    string
	program any
}

// Bind sets the compiled program (*engine.Program); for the compiler.
func (a *AgentRef) Bind(program any) { a.program = program }

// IsZero reports whether nothing was written.
func (a AgentRef) IsZero() bool { return a.File == "" }

// Program returns the compiled program, an *engine.Program, or nil.
func (a AgentRef) Program() any { return a.program }

package component

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ModelRef names an llm of the spec. A Config that holds one takes all llm keys
// (temperature, model, ...) beside it as overrides for this place; the compiler
// then gives the combination a name of its own.
type ModelRef struct{ Name string }

// Lookup finds the value of a reference in a template: ns and name as written
// ("parameters", "user.name"). A value is a string, segments ([]string), or any
// JSON value. ok is false when nothing has that name.
type Lookup func(ns, name string) (value any, ok bool)

// TooLarge says that a template renders to more bytes than a run may hold.
// Render panics with it, since most templates cannot fail: the engine and the
// commands that render recover it and report it as an error.
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

// Inline is a PromptRef of a default text; the compiler compiles it like any other.
func Inline(text string) PromptRef { return PromptRef{Text: text} }

// Bind gives a reference its compiled form; for the compiler. names lists the
// references of the template, "ns.name".
func (p *PromptRef) Bind(render func(Lookup) []string, names []string) {
	p.render, p.names = render, names
}

// IsZero says that nothing was written.
func (p PromptRef) IsZero() bool { return p.Text == "" && p.File == "" && p.Use == "" }

// Uses says whether the template refers to a name ("parameters.steps").
func (p PromptRef) Uses(name string) bool {
	return slices.Contains(p.names, name)
}

// Render fills the template in one pass; values are data and never scanned again.
func (p PromptRef) Render(l Lookup) []string {
	if p.render == nil {
		return []string{p.Text}
	}
	return p.render(l)
}

// Template is one string with references, such as a URL or an argument.
type Template struct {
	Text   string
	render func(Lookup) []string
}

// Bind gives a template its compiled form; for the compiler.
func (t *Template) Bind(render func(Lookup) []string) { t.render = render }

// Render fills the template.
func (t Template) Render(l Lookup) string {
	if t.render == nil {
		return t.Text
	}
	return strings.Join(t.render(l), "")
}

// Visit asks look for each reference of the template and drops what comes of it.
func (t Template) Visit(l Lookup) { t.Render(l) }

// GuardRef is an expression that says yes or no.
type GuardRef struct {
	Source string
	eval   func(map[string]any) (bool, error)
}

// Bind gives a guard its compiled form; for the compiler.
func (g *GuardRef) Bind(eval func(map[string]any) (bool, error)) { g.eval = eval }

// IsZero says that nothing was written.
func (g GuardRef) IsZero() bool { return g.Source == "" }

// String is the source.
func (g GuardRef) String() string { return g.Source }

// Eval evaluates the expression; a guard that was not written is true.
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

// CompiledSchema checks values against a schema.
type CompiledSchema interface {
	Validate(v any) error
	// TakesText says whether the schema names string among the types of a value.
	TakesText() bool
	// Current is the schema as the newest draft writes it.
	Current() json.RawMessage
}

// Bind gives a schema its compiled form; for the compiler.
func (s *SchemaRef) Bind(compiled CompiledSchema) { s.compiled = compiled }

// TakesText says whether the schema names string among the types of a value. One
// that names no type does not.
func (s SchemaRef) TakesText() bool { return s.compiled != nil && s.compiled.TakesText() }

// IsZero says that nothing was written.
func (s SchemaRef) IsZero() bool { return len(s.JSON) == 0 && s.File == "" && s.Use == "" }

// Current is the schema as the newest draft writes it, for models that are held
// to it. It may allow more than the schema, so Validate still decides.
func (s SchemaRef) Current() json.RawMessage {
	if s.compiled == nil {
		return s.JSON
	}
	return s.compiled.Current()
}

// Validate checks a value decoded from JSON with numbers as json.Number.
// The error lists every violation, one a line, with the place of each.
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

// Bind gives a filter its compiled form; for the compiler.
func (f *FilterRef) Bind(apply func(any) ([]any, error)) { f.apply = apply }

// IsZero says that nothing was written.
func (f FilterRef) IsZero() bool { return f.Source == "" }

// Apply selects nodes of a decoded JSON value; a filter that was not written gives the value.
func (f FilterRef) Apply(v any) ([]any, error) {
	if f.apply == nil {
		return []any{v}, nil
	}
	return f.apply(v)
}

// AgentRef is another spec, by file: it is compiled with the one that names it.
type AgentRef struct {
	File    string
	program any
}

// Bind gives the reference its compiled program (*engine.Program); for the compiler.
func (a *AgentRef) Bind(program any) { a.program = program }

// IsZero says that nothing was written.
func (a AgentRef) IsZero() bool { return a.File == "" }

// Program is the compiled program, an *engine.Program, or nil.
func (a AgentRef) Program() any { return a.program }

package scaffold

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/pexctl/pex/dsl/diag"
)

// Answers are the choices that a project is generated from.
type Answers struct {
	Name        string   // metadata.name: a letter, then letters, digits, - and _
	Description string   // one line: what the agent is for
	Provider    string   // one of Providers
	Model       string   // of the provider
	Tools       []string // names of Tools, without duplicates
	Priced      bool     // the price of the model is known, so that limits.max_cost can be set
	BaseURL     string   // address of the model server; "" = that of the provider
	Ready       string   // why Provider is the default: "OPENAI_API_KEY is set"; "" = it is the first
	Server      string   // address of the user's own model server, which was asked for its models; "" = none
	Served      []Served // models of Server; none if it does not answer
}

// Served is a model of the user's own server.
type Served struct {
	Name    string
	NoTools bool // the server says that the model does not support tool calls
}

// UseServer records what the model server at address has. Without a choice by the user, its first model becomes the model.
// defaultServer reports whether address is the provider's own default, which the spec does not repeat.
func (a *Answers) UseServer(address string, models []Served, defaultServer, chosen bool) {
	a.Server, a.Served = address, models
	if !defaultServer {
		a.BaseURL = address
	}
	if !chosen && len(models) > 0 && !a.installed() {
		a.Model = models[0].Name
	}
}

func (a Answers) installed() bool {
	return slices.ContainsFunc(a.Served, func(m Served) bool { return m.Name == a.Model })
}

// TextTools reports whether the server says that the model supports no tool calls, so that it must call tools as text.
func (a Answers) TextTools() bool {
	return slices.Contains(a.Served, Served{Name: a.Model, NoTools: true})
}

// Missing returns what to do before the model can be called, "" if nothing is known to be missing.
func (a Answers) Missing() string {
	switch {
	case a.Server == "" || a.installed():
		return ""
	case len(a.Served) == 0 && a.Provider == "ollama":
		return "no Ollama server at " + a.Server + ": run ollama serve, then ollama pull " + a.Model
	case len(a.Served) == 0:
		return "no server answers at " + a.Server
	case a.Provider == "ollama":
		return "not installed: run ollama pull " + a.Model
	}
	return "not a model of " + a.Server
}

// The longest valid answers, in characters.
const (
	maxName = 64
	maxText = 300
)

// Suggest returns the default answers. The agent is named after its folder, with characters that a name cannot have replaced.
func Suggest(folder string) Answers {
	first := Providers()[0]
	return Answers{
		Name:        nameOf(folder),
		Description: "Answers questions about the figures and notes of a small business.",
		Provider:    first.Name,
		Model:       first.Model,
		Tools:       []string{"json_query", "search_files", "calculator"},
	}
}

// nameOf derives a valid agent name from a folder's name.
func nameOf(folder string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(filepath.Base(folder)) {
		switch {
		case isLetter(r), b.Len() > 0 && (isDigit(r) || r == '_'):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	name := strings.TrimRight(b.String()[:min(b.Len(), maxName)], "-_")
	if name == "" {
		return "agent"
	}
	return name
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }
func isDigit(r rune) bool  { return '0' <= r && r <= '9' }

// Check returns an error for the first invalid answer, with what would be valid; nil if all are valid.
func (a Answers) Check() error {
	for _, q := range questions {
		if err := q.check(a); err != nil {
			return err
		}
	}
	return nil
}

func (a Answers) checkName() error {
	fits := a.Name != "" && len(a.Name) <= maxName
	for i, r := range a.Name {
		fits = fits && (isLetter(r) || i > 0 && (isDigit(r) || r == '-' || r == '_'))
	}
	if !fits {
		return fmt.Errorf("invalid agent name %q: use letters, digits, _ and -, start with a letter, at most %d characters", a.Name, maxName)
	}
	return nil
}

func (a Answers) checkDescription() error { return oneLine("description", a.Description) }

func (a Answers) checkModel() error {
	if strings.ContainsFunc(a.Model, unicode.IsSpace) {
		return fmt.Errorf("invalid model name %q: it contains a space", a.Model)
	}
	return oneLine("model name", a.Model)
}

// oneLine checks that s is a single printable line of valid length.
func oneLine(what, s string) error {
	switch {
	case strings.TrimSpace(s) == "":
		return fmt.Errorf("the %s must not be empty", what)
	case len([]rune(s)) > maxText:
		return fmt.Errorf("the %s has %d characters, at most %d are allowed here; a longer one can be written into the spec later", what, len([]rune(s)), maxText)
	case strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) || r == unicode.ReplacementChar }):
		return fmt.Errorf("the %s contains a line break or an invisible character", what)
	}
	return nil
}

func (a Answers) checkProvider() error {
	if _, ok := providerOf(a.Provider); ok {
		return nil
	}
	return unknown("provider", a.Provider, ProviderNames())
}

func (a Answers) checkTools() error {
	names := ToolNames()
	for i, name := range a.Tools {
		if !slices.Contains(names, name) {
			return unknown("tool", name, names)
		}
		if slices.Contains(a.Tools[:i], name) {
			return fmt.Errorf("duplicate tool %s", name)
		}
	}
	if !slices.ContainsFunc(a.Tools, answersDemo) {
		return fmt.Errorf("the sample question needs at least one of the offline tools %s (you can remove it from the spec later)", strings.Join(demoToolNames(), ", "))
	}
	return nil
}

// unknown returns the error for a name that is not in names.
func unknown(what, name string, names []string) error {
	if near := diag.Nearest(name, names); near != "" {
		return fmt.Errorf("unknown %s %q; did you mean %s?", what, name, near)
	}
	return fmt.Errorf("unknown %s %q; valid: %s", what, name, strings.Join(names, ", "))
}

// Words splits a list at commas and spaces.
func Words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}

package starter

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/pexctl/pex/dsl/diag"
)

// Answers are what a project is made of.
type Answers struct {
	Name        string   // metadata.name: a letter, then letters, digits, - and _
	Description string   // one line: what the agent is for
	Provider    string   // one of Providers
	Model       string   // of the provider
	Tools       []string // of Tools, each once
	Priced      bool     // what the model costs is known, so that a limit in USD can be kept
}

// The longest answers that are taken, in characters.
const (
	maxName = 64
	maxText = 300
)

// Suggest gives the answers that stand unless somebody says otherwise; the
// agent is called like its folder, as far as that can be a name.
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

// nameOf makes a folder's name one that an agent can have.
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

// Check says what is wrong with the first answer that cannot be taken, and what
// could be; nil = a project can be made of them.
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
		return fmt.Errorf("%q cannot be the name of an agent: names are letters, digits, _ and -, begin with a letter and have at most %d of them", a.Name, maxName)
	}
	return nil
}

func (a Answers) checkDescription() error { return oneLine("description", a.Description) }

func (a Answers) checkModel() error {
	if strings.ContainsFunc(a.Model, unicode.IsSpace) {
		return fmt.Errorf("%q cannot be the name of a model: it has a space in it", a.Model)
	}
	return oneLine("name of the model", a.Model)
}

// oneLine wants text that one line shows as it is.
func oneLine(what, s string) error {
	switch {
	case strings.TrimSpace(s) == "":
		return fmt.Errorf("the %s is empty", what)
	case len([]rune(s)) > maxText:
		return fmt.Errorf("the %s has %d characters: at most %d are taken here, the spec has room for more", what, len([]rune(s)), maxText)
	case strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) || r == unicode.ReplacementChar }):
		return fmt.Errorf("the %s has a line break or a character that cannot be seen", what)
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
			return fmt.Errorf("the tool %s is named twice", name)
		}
	}
	if !slices.ContainsFunc(a.Tools, answering) {
		return fmt.Errorf("the first question needs a tool that answers it without a network: one of %s (take it out of the spec later)", strings.Join(answeringNames(), ", "))
	}
	return nil
}

// unknown refuses a name that is none of those there are.
func unknown(what, name string, names []string) error {
	if near := diag.Nearest(name, names); near != "" {
		return fmt.Errorf("there is no %s %q; did you mean %s?", what, name, near)
	}
	return fmt.Errorf("there is no %s %q; there are %s", what, name, strings.Join(names, ", "))
}

// Words splits a list as people write it, by commas or spaces.
func Words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}

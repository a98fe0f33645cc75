package assertion

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/eval/trial"
)

// references looks up the variables of a check's templates and records missing ones: a
// check that compares with nothing would always pass.
type references struct {
	subject *trial.Subject
	missing []string
}

func (r *references) lookup(ns, name string) (any, bool) {
	v, ok := r.subject.Lookup(ns, name)
	root, _, dotted := strings.Cut(name, ".")
	switch full := ns + "." + name; {
	case ok:
		// A dotted name is looked up as a whole first, then by its first part.
		r.missing = slices.DeleteFunc(r.missing, func(n string) bool { return strings.HasPrefix(n, full+".") })
	case dotted:
		if _, ok := r.subject.Lookup(ns, root); !ok {
			r.missing = append(r.missing, full)
		}
	default:
		r.missing = append(r.missing, full)
	}
	return v, ok
}

// missingError returns an error if the template refers to a missing value and has no
// default.
func (r *references) missingError(source string) error {
	if len(r.missing) == 0 || strings.Contains(source, ":-") {
		return nil
	}
	return fmt.Errorf("%s: %s does not exist; check the column names of the dataset", source, r.missing[0])
}

// render renders a template.
func render(t component.Template, s *trial.Subject) (string, error) {
	r := references{subject: s}
	text := t.Render(r.lookup)
	return text, r.missingError(t.Text)
}

// renderNonEmpty renders a template that must not be empty.
func renderNonEmpty(t component.Template, s *trial.Subject) (string, error) {
	text, err := render(t, s)
	if err == nil && text == "" {
		err = fmt.Errorf("%s is empty, and every answer contains an empty text", t.Text)
	}
	return text, err
}

// renderValue renders the strings in a value.
func renderValue(v component.Value, s *trial.Subject) (any, error) {
	r := references{subject: s}
	out := v.Render(r.lookup)
	return out, r.missingError(string(v.JSON))
}

// renderPrompt renders a prompt.
func renderPrompt(p component.PromptRef, s *trial.Subject) (string, error) {
	r := references{subject: s}
	text := strings.Join(p.Render(r.lookup), "")
	return text, r.missingError(brief(p.Text))
}

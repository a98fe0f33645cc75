package assertion

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/eval/trial"
)

// references looks values up for the templates of a check, and remembers which
// there were none of: a check that compares with nothing would pass for nothing.
type references struct {
	subject *trial.Subject
	none    []string
}

func (r *references) lookup(ns, name string) (any, bool) {
	v, ok := r.subject.Lookup(ns, name)
	root, _, dotted := strings.Cut(name, ".")
	switch full := ns + "." + name; {
	case ok:
		// A dotted name is looked up as a whole first, and then by its begin.
		r.none = slices.DeleteFunc(r.none, func(n string) bool { return strings.HasPrefix(n, full+".") })
	case dotted:
		if _, ok := r.subject.Lookup(ns, root); !ok {
			r.none = append(r.none, full)
		}
	default:
		r.none = append(r.none, full)
	}
	return v, ok
}

// missing is the error of a template that refers to what is not there. A
// template with a default is left alone.
func (r *references) missing(source string) error {
	if len(r.none) == 0 || strings.Contains(source, ":-") {
		return nil
	}
	return fmt.Errorf("%s: there is no %s; the dataset may name the column otherwise", source, r.none[0])
}

// filled is a template with its values.
func filled(t component.Template, s *trial.Subject) (string, error) {
	r := references{subject: s}
	text := t.Render(r.lookup)
	return text, r.missing(t.Text)
}

// wanted is filled for a text that must not be empty.
func wanted(t component.Template, s *trial.Subject) (string, error) {
	text, err := filled(t, s)
	if err == nil && text == "" {
		err = fmt.Errorf("%s is empty here, and everything contains an empty text", t.Text)
	}
	return text, err
}

// filledValue is a value with its texts filled.
func filledValue(v component.Value, s *trial.Subject) (any, error) {
	r := references{subject: s}
	out := v.Render(r.lookup)
	return out, r.missing(string(v.JSON))
}

// filledPrompt is a prompt with its values.
func filledPrompt(p component.PromptRef, s *trial.Subject) (string, error) {
	r := references{subject: s}
	text := strings.Join(p.Render(r.lookup), "")
	return text, r.missing(brief(p.Text))
}

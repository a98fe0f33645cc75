package prompt

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/component"
)

// Template is a parsed source. It is immutable and safe for concurrent use.
type Template struct {
	parts  []part
	names  []string
	static []string // the whole result when there is no reference
	source string   // where it is written, for errors
}

// part is text, or a reference where ref is not nil.
type part struct {
	text string
	ref  *reference
}

// Options says what a source may refer to.
type Options struct {
	// Source is where the template is written (file:line:column), for errors.
	Source string
	// Namespaces are the words that expand; others stay as they are.
	Namespaces []string
	// Known says what is known of a name. nil = every name is declared.
	Known func(ns, name string) Knowledge
	// Partial gives the template that ${prompts.name} stands for; nil = there is
	// none, which it has reported. offset is where the reference begins. A nil
	// Partial makes prompts a word like any other.
	Partial func(name string, offset int) *Template
}

// Knowledge is what the compiler knows of a name.
type Knowledge struct {
	Declared bool     // something has this name
	Optional bool     // it may be unset, so a reference needs a default
	Names    []string // the names there are, for suggestions
	// Schema is the JSON Schema of the value, decoded, against which a path is
	// held; nil = the value may be anything.
	Schema any
}

// Parse reads a source. The template is never nil: what is wrong in it stays
// text, so that it can be shown; a caller must not run it when Failed(problems).
// Problems are sorted by offset.
func Parse(src string, o Options) (*Template, []Problem) {
	p := &parser{src: src, options: o}
	parts, _, _ := p.parts(0, 0, 0)
	t := &Template{parts: parts, names: p.names, source: o.Source}
	switch {
	case len(parts) == 0:
		t.static = []string{}
	case len(parts) == 1 && parts[0].ref == nil: // text is in one part
		t.static = []string{parts[0].text}
	}
	return t, sorted(p.problems)
}

// Names lists the references in order of first appearance, those in defaults
// included, each as "ns.name" with its path ("steps.s1.output.hits[0].id").
// The caller must not change it.
func (t *Template) Names() []string { return t.names }

// Render fills the template and returns its text in segments, in order. The
// text between references is shared by all renders; a value is a segment of
// its own, and segments ([]string) among the values are taken over as they
// are. The caller must not change the result. An unset value without a default
// renders as nothing. A
// text of more than MaxRendered bytes panics with *component.TooLarge.
func (t *Template) Render(lookup component.Lookup) []string {
	if t.static != nil {
		return t.static
	}
	if len(t.parts) == 1 {
		r := t.parts[0].ref
		v := r.value(lookup)
		if s, ok := segments(v); ok && len(r.filters) == 0 {
			t.fits(sizeOf(s))
			return slices.Clip(s)
		}
		out := r.fill(t, nil, v, lookup)
		t.fits(sizeOf(out))
		return out
	}
	return t.fill(lookup)
}

// fill looks every value up once, and then makes room for all segments at once.
func (t *Template) fill(lookup component.Lookup) []string {
	var few [16]any
	values := few[:0]
	n := slack
	for i := range t.parts {
		n++
		if r := t.parts[i].ref; r != nil {
			v := r.value(lookup)
			if s, ok := segments(v); ok {
				n += len(s)
			}
			values = append(values, v)
		}
	}
	out, bytes, counted := make([]string, 0, n), 0, 0
	for i := range t.parts {
		if r := t.parts[i].ref; r != nil {
			out = r.fill(t, out, values[0], lookup)
			values = values[1:]
		} else {
			out = append(out, t.parts[i].text)
		}
		bytes += sizeOf(out[counted:])
		counted = len(out)
		t.fits(bytes)
	}
	return out
}

// slack is room for what callers put behind a rendered prompt.
const slack = 4

// Text fills the template and joins the segments.
func (t *Template) Text(lookup component.Lookup) string {
	return strings.Join(t.Render(lookup), "")
}

// Whole gives the value itself, with its JSON type, when the template is
// exactly one reference without filters; ok is false for any other template.
// A nil value is unset. A default that is text gives a string.
func (t *Template) Whole(lookup component.Lookup) (value any, ok bool) {
	return t.whole(t.parts, lookup)
}

func (t *Template) whole(parts []part, lookup component.Lookup) (any, bool) {
	if len(parts) != 1 || parts[0].ref == nil || len(parts[0].ref.filters) > 0 {
		return nil, false
	}
	r := parts[0].ref
	v := r.value(lookup)
	if v == nil && r.hasDefault {
		if inner, ok := t.whole(r.fallback, lookup); ok {
			return inner, true
		}
		return strings.Join(t.render(nil, r.fallback, lookup), ""), true
	}
	if s, ok := segments(v); ok {
		return strings.Join(s, ""), true
	}
	return v, true
}

func (t *Template) render(out []string, parts []part, lookup component.Lookup) []string {
	bytes, counted := 0, len(out)
	for i := range parts {
		if r := parts[i].ref; r != nil {
			out = r.render(t, out, lookup)
		} else {
			out = append(out, parts[i].text)
		}
		bytes += sizeOf(out[counted:])
		counted = len(out)
		t.fits(bytes)
	}
	return out
}

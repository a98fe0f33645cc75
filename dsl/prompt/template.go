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
	static []string // the complete result if there is no reference
	source string   // its place, for errors
}

// part is text, or a reference if ref is not nil.
type part struct {
	text string
	ref  *reference
}

// Options define what a source may refer to.
type Options struct {
	// Source is the place of the template (file:line:column), for errors.
	Source string
	// Namespaces are the words that expand; others stay unchanged.
	Namespaces []string
	// Known returns what is known about a name. If it is nil, every name is
	// declared.
	Known func(ns, name string) Knowledge
	// Partial returns the template of ${prompts.name}, or nil after reporting an
	// error. offset is the start of the reference. If Partial is nil, prompts is an
	// ordinary word.
	Partial func(name string, offset int) *Template
}

// Knowledge is what the compiler knows about a name.
type Knowledge struct {
	Declared bool     // the name exists
	Optional bool     // it may be unset, so a reference needs a default
	Names    []string // existing names, for suggestions
	// Schema is the decoded JSON Schema of the value, for checking paths; nil
	// allows any value.
	Schema any
}

// Parse parses a source. The template is never nil: invalid parts stay text, so
// that it can be shown; a caller must not render it if Failed(problems). Problems
// are sorted by offset.
func Parse(src string, o Options) (*Template, []Problem) {
	p := &parser{src: src, options: o}
	parts, _, _ := p.parts(0, 0, 0)
	t := &Template{parts: parts, names: p.names, source: o.Source}
	switch {
	case len(parts) == 0:
		t.static = []string{}
	case len(parts) == 1 && parts[0].ref == nil: // text only
		t.static = []string{parts[0].text}
	}
	return t, sorted(p.problems)
}

// Names returns the references in order of first appearance, including those in
// defaults, each as "ns.name" with its path ("steps.s1.output.hits[0].id"). The
// caller must not modify it.
func (t *Template) Names() []string { return t.names }

// Render renders the template and returns its text in segments, in order. All
// renders share the text between references. A value is a segment of its own, and
// segments ([]string) among the values are inserted unchanged. The caller must
// not modify the result. An unset value without a default renders as nothing. A
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

// fill looks up every value once, and then allocates all segments at once.
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

// slack is the capacity for segments that callers append to a rendered prompt.
const slack = 4

// Text renders the template and joins the segments.
func (t *Template) Text(lookup component.Lookup) string {
	return strings.Join(t.Render(lookup), "")
}

// Whole returns the value itself, with its JSON type, if the template is exactly
// one reference without filters; ok is false for other templates. A nil value is
// unset. A textual default is returned as a string.
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

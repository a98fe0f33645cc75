package analysis

import (
	"slices"
	"strings"
	"unicode"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
)

// Unmentioned finds required fields of output.schema of which a model sees only
// the name although other fields are explained: typically a field that was added
// to the schema but not to the prompts. A schema without any explanation is not
// reported, because the model receives the whole schema and its names may be
// clear enough.
var Unmentioned = dsl.Analyzer{Name: "unmentioned", Codes: []diag.Code{diag.UnmentionedTool}, Run: func(p *dsl.Pass) {
	prompts := authorTexts(p)
	if prompts == "" {
		return
	}
	fields := requiredFields(p.Spec.Tree().Get("output", "schema"), "", 0)
	words, more := wordsOf(prompts), wordsOf(otherModelTexts(p))
	explained := func(f field) bool { return described(f.Value) || mentions(words, f.Key) }
	if !slices.ContainsFunc(fields, explained) {
		return
	}
	for _, f := range fields {
		if !explained(f) && !mentions(more, f.Key) && !mentions(wordsOf(f.around), f.Key) {
			p.Warn(diag.UnmentionedTool, f.Place, "%s has no description, and no prompt mentions it", f.Key).
				Hint = "add a description, or explain it in a prompt"
		}
	}
}}

// maxSchemaDepth limits the search for fields.
const maxSchemaDepth = 16

// field is a field of the schema, with the descriptions of everything that
// contains it.
type field struct {
	dsl.Entry
	around string
}

// requiredFields returns the fields that an answer must have and that hold a
// value, including those within lists and objects.
func requiredFields(schema dsl.Value, around string, depth int) (out []field) {
	around += schema.Get("title").Text() + "\n" + schema.Get("description").Text() + "\n"
	if items := schema.Get("items"); items.IsMapping() && depth < maxSchemaDepth {
		return requiredFields(items, around, depth+1)
	}
	var required []string
	for _, r := range schema.Get("required").Items() {
		required = append(required, r.Text())
	}
	for _, f := range schema.Get("properties").Entries() {
		if !slices.Contains(required, f.Key) || depth >= maxSchemaDepth {
			continue
		}
		if inner := requiredFields(f.Value, around, depth+1); len(inner) > 0 {
			out = append(out, inner...)
		} else {
			out = append(out, field{f, around})
		}
	}
	return out
}

// described reports whether a schema has more about a field than its type.
func described(field dsl.Value) bool {
	return slices.ContainsFunc([]string{"description", "title", "enum", "const", "examples", "format", "pattern", "$ref", "anyOf", "oneOf"},
		func(key string) bool { return field.Get(key).Exists() })
}

// authorTexts returns the text that the author wrote for models: the prompts and
// templates of roles, nodes and LLMs, and the named prompts that are used.
func authorTexts(p *dsl.Pass) string {
	var b strings.Builder
	tree := p.Spec.Tree()
	for _, section := range append([]string{"graph", "llms"}, language.Roles...) {
		appendPrompts(&b, tree.Get(section), false)
	}
	for _, e := range tree.Get("prompts").Entries() {
		if p.Uses["prompts."+e.Key] {
			appendPrompts(&b, e.Value, true)
		}
	}
	return b.String()
}

// otherModelTexts returns the other parts of the spec that models see: the default
// question and the descriptions of tools.
func otherModelTexts(p *dsl.Pass) string {
	var b strings.Builder
	for _, e := range p.Spec.Tree().Get("parameters").Entries() {
		b.WriteString(e.Value.Get("default").Text() + "\n")
	}
	for _, t := range p.Tools {
		b.WriteString(t.Entry.Value.Get("description").Text() + "\n")
	}
	return b.String()
}

// appendPrompts appends the texts of a value that are prompts.
func appendPrompts(b *strings.Builder, v dsl.Value, prompt bool) {
	if prompt && v.IsText() {
		b.WriteString(v.Text() + "\n")
	}
	for _, it := range v.Items() {
		appendPrompts(b, it, prompt)
	}
	for _, e := range v.Entries() {
		if e.Key != "options" && e.Key != "use" {
			appendPrompts(b, e.Value, prompt || strings.Contains(e.Key, "prompt") || strings.HasSuffix(e.Key, "_template"))
		}
	}
}

// mentions reports whether the words of a name occur in a text one after the other.
// unit_price, unitPrice, unit-price and "unit price" are the same name, and so is
// the plural.
func mentions(words, name string) bool {
	inner := strings.TrimSpace(wordsOf(name))
	forms := []string{inner, inner + "s", inner + "es", strings.TrimSuffix(inner, "s"), strings.TrimSuffix(inner, "es")}
	if stem, ok := strings.CutSuffix(inner, "y"); ok {
		forms = append(forms, stem+"ies")
	}
	if stem, ok := strings.CutSuffix(inner, "ies"); ok {
		forms = append(forms, stem+"y")
	}
	return slices.ContainsFunc(forms, func(form string) bool { return strings.Contains(words, " "+form+" ") })
}

// wordsOf returns the words of a text in lower case, with a space before and
// after each.
func wordsOf(s string) string {
	var b strings.Builder
	b.WriteByte(' ')
	var last rune
	for _, r := range s {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = ' '
		case unicode.IsUpper(r) && unicode.IsLower(last):
			b.WriteByte(' ')
		}
		if last = r; r != ' ' || !strings.HasSuffix(b.String(), " ") {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return strings.TrimRight(b.String(), " ") + " "
}

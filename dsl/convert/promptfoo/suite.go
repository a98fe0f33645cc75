package promptfoo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
	"github.com/pexctl/pex/engine/text"
)

// suites groups the cases by the shape of their checks; each group becomes a
// suite.
func (c *config) suites(cases []testcase) (out []tree.Map) {
	if len(cases) == 0 { // noted where the tests are read
		cases = []testcase{{id: "1"}}
	}
	var shapes []string
	groups := map[string][]testcase{}
	for _, t := range cases {
		if len(t.checks) == 0 {
			t.checks = []check{{body: tree.Map{{Key: "type", Value: "expr"}, {Key: "that", Value: "len(trim(output)) > 0"}}}}
		}
		var b strings.Builder
		for i := range t.checks {
			b.WriteString(t.checks[i].shape() + "\n")
		}
		shape := b.String()
		if groups[shape] == nil {
			shapes = append(shapes, shape)
		}
		groups[shape] = append(groups[shape], t)
	}
	for _, shape := range shapes {
		out = append(out, c.suite(len(out), groups[shape]))
	}
	if len(out) > 1 {
		c.NoteAt(c.root.File, "tests", convert.Changed, "the checks of a suite grade all of its cases, so tests with different kinds of assertions are in %d suites", len(out))
	}
	return out
}

// suite writes one suite.
func (c *config) suite(n int, cases []testcase) (out tree.Map) {
	name := c.Root.ID
	if n > 0 {
		name = fmt.Sprintf("%s-%d", name, n+1)
	}
	out.Put("apiVersion", "pex/v1")
	out.Put("kind", "Suite")
	out.Put("metadata", tree.Map{{Key: "name", Value: name}})
	out.Put("spec", "spec.yaml")
	checks := c.checks(cases)
	c.fill(cases, checks)
	if uses(cases, "similarity") {
		out.Put("llms", tree.Map{{Key: "embed", Value: tree.Map{{Key: "provider", Value: "openai"}, {Key: "model", Value: "text-embedding-3-small"}}}})
		out.Put("embed", tree.Map{{Key: "llm", Value: "embed"}})
	}
	var rows []any
	for _, t := range cases {
		row := tree.Map{{Key: "id", Value: t.id}}
		for _, e := range t.row {
			key := e.Key
			if key == "id" {
				key = "case_id" // id identifies the case
			}
			row.Set(key, e.Value, "")
		}
		rows = append(rows, row)
	}
	out.Put("dataset", c.dataset(cases, rows))
	out.Put("variants", c.variants())
	options := tree.First(c.root.Get("evaluateOptions"), c.root.Get("commandLineOptions"))
	if k, ok := options.Get("repeat").UseInt(); ok && k > 1 {
		out.Put("repeat", k)
	}
	if k, ok := options.Get("maxConcurrency").UseInt(); ok && k > 0 {
		out.Put("concurrency", min(k, 64))
	}
	out.Put("checks", checks)
	if uses(cases, "rubric") {
		out.Put("judge", tree.Map{{Key: "llm", Value: c.judge()}})
	}
	out.Put("gates", []any{"stats.pass_rate == 1"})
	return out
}

// dataset writes the rows. Columns have the names of parameters, except a
// variable called id, which gets another column.
func (c *config) dataset(cases []testcase, rows []any) tree.Map {
	out := tree.Map{}
	if slices.ContainsFunc(cases, func(t testcase) bool { return t.row.Has("id") }) {
		parameters := tree.Map{}
		for _, e := range c.Parameters {
			column := e.Key
			if column == "id" {
				column = "case_id"
			}
			parameters.Put(e.Key, "${case."+column+":-}")
		}
		out.Put("parameters", parameters)
	}
	return append(out, tree.Entry{Key: "rows", Value: rows})
}

// uses reports whether a case has a check of a type.
func uses(cases []testcase, kind string) bool {
	return slices.ContainsFunc(cases[0].checks, func(k check) bool { return k.body.Get("type") == kind })
}

// variants writes a variant for each provider and prompt, if there are several.
func (c *config) variants() (out tree.Map) {
	if len(c.providers)*len(c.prompts) < 2 {
		return nil
	}
	taken := map[string]bool{}
	for _, p := range c.providers {
		for i, text := range c.prompts {
			name := p.label
			if len(c.prompts) > 1 {
				name += "-" + text.label
				if len(c.providers) == 1 {
					name = text.label
				}
			}
			set := tree.Map{}
			if len(c.LLMs) > 1 {
				set.Put("planner.llm", p.llm)
			}
			if i > 0 {
				set.Put("finalizer.finalizer_prompt_template", text.user)
			}
			if text.system != c.prompts[0].system {
				system := text.system
				if system == "" {
					system = "Answer the question."
				}
				set.Put("finalizer.system_prompt", system)
			}
			variant := tree.Map{}
			variant.Put("set", set)
			out.Set(tree.UniqueName(tree.Identifier(name, "variant"), taken), variant, "")
		}
	}
	return out
}

// checks writes the checks of cases of one shape. A value that all cases share is
// part of the check; other values are columns of the rows.
func (c *config) checks(cases []testcase) (out []any) {
	columns := map[string]bool{"id": true, "case_id": true}
	for name := range c.vars {
		columns[name] = true
	}
	for i, first := range cases[0].checks {
		body := slices.Clone(first.body)
		for j, e := range body {
			if !first.isValue(e.Key) {
				continue
			}
			if list, ok := e.Value.([]any); ok {
				made := make([]any, len(list))
				for k := range list {
					made[k] = c.shared(cases, columns, first.columnName(), func(t *testcase) string { return t.checks[i].body[j].Value.([]any)[k].(string) }, "")
				}
				body[j].Value = made
				continue
			}
			body[j].Value = c.shared(cases, columns, first.columnName(), func(t *testcase) string { return t.checks[i].body[j].Value.(string) }, first.expr)
		}
		if body.Get("type") == "expr" {
			out = append(out, body.Get("that"))
			continue
		}
		out = append(out, body)
	}
	return dedupe(out)
}

// columnName returns the name of a column of values.
func (k *check) columnName() string {
	if k.expr != "" {
		return "unwanted"
	}
	return "expected_" + strings.TrimSuffix(k.body.Get("type").(string), "_with")
}

// shared returns the value that all cases share, or a reference to a column.
func (c *config) shared(cases []testcase, columns map[string]bool, name string, value func(*testcase) string, expr string) string {
	same := value(&cases[0])
	differs := slices.ContainsFunc(cases, func(t testcase) bool { return value(&t) != same })
	switch {
	case !differs && expr != "":
		return fmt.Sprintf(expr, quoted(same))
	case !differs:
		return same
	}
	column := strings.ReplaceAll(tree.UniqueName(name, columns), "-", "_")
	for i := range cases {
		cases[i].row.Set(column, unescape(value(&cases[i])), "")
	}
	if expr != "" {
		return fmt.Sprintf(expr, "case."+column)
	}
	return "${case." + column + "}"
}

// unescape returns a template's text as data, without escapes.
func unescape(s string) string {
	return strings.NewReplacer("$${", "${", "$$<", "$<").Replace(s)
}

// dedupe removes duplicate checks.
func dedupe(all []any) (out []any) {
	seen := map[string]bool{}
	for _, v := range all {
		if key := fmt.Sprint(v); !seen[key] {
			seen[key] = true
			out = append(out, v)
		}
	}
	return out
}

// judgeOf records the provider that grades. The first one wins.
func (c *config) judgeOf(at *tree.Value) {
	switch {
	case at == nil:
	case c.judgeAt == nil:
		c.judgeAt = at
		at.Use()
	case at.Peek() != c.judgeAt.Peek():
		c.Note(at, convert.Dropped, "one llm grades all cases of a suite")
	default:
		at.Use()
	}
}

// judge returns the LLM that grades: the named one, or the first.
func (c *config) judge() string {
	if c.judgeLLM != "" {
		return c.judgeLLM
	}
	at := c.judgeAt
	if text := at.Get("text"); text != nil {
		at = text
	}
	if at != nil {
		c.judgeLLM, _ = c.provider(at)
	}
	if c.judgeLLM == "" {
		c.judgeLLM = c.providers[0].llm
		c.NoteAt(c.root.File, ".", convert.Todo, "the configuration names no provider that grades: %s does; better choose another judge.llm", c.judgeLLM)
	}
	return c.judgeLLM
}

// caseColumn matches a reference to a column.
var caseColumn = text.Regexp(`\$\{case\.([A-Za-z0-9_]+)`)

// fill adds missing columns to the rows.
func (c *config) fill(cases []testcase, checks []any) {
	for _, m := range caseColumn().FindAllStringSubmatch(fmt.Sprint(checks), -1) {
		for i := range cases {
			if !cases[i].row.Has(m[1]) {
				cases[i].row.Set(m[1], "", "")
			}
		}
	}
}

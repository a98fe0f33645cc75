package promptfoo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// check is a check of one case. Cases whose checks have the same shape share a
// suite; a value that differs between cases becomes a column.
type check struct {
	body   tree.Map
	values []string // keys of body whose texts may differ between cases
	expr   string   // of a check that is an expression, with %s for the value
}

// shape returns what checks of one suite have in common.
func (k *check) shape() string {
	var b strings.Builder
	for _, e := range k.body {
		if n, ok := e.Value.([]any); ok && k.isValue(e.Key) {
			fmt.Fprintf(&b, "%s[%d] ", e.Key, len(n))
		} else if text, ok := e.Value.(string); ok && k.isValue(e.Key) && !strings.Contains(text, "${") {
			fmt.Fprintf(&b, "%s ", e.Key)
		} else {
			fmt.Fprintf(&b, "%s=%v ", e.Key, e.Value)
		}
	}
	return b.String() + k.expr
}

func (k *check) isValue(key string) bool {
	return slices.Contains(k.values, key)
}

// kind is how a type of assertion is converted.
type kind struct {
	check  string // the type of the check
	value  string // the key of its value
	limit  string // the key of its threshold
	fixed  tree.Map
	prefix string // before the value
	expr   string // an expression instead, with %s for the value
	judged bool
}

var anyCase = tree.Map{{Key: "ignore_case", Value: true}}

// assertions are the types that are converted.
var assertions = map[string]kind{
	"contains":                {check: "contains", value: "value"},
	"icontains":               {check: "contains", value: "value", fixed: anyCase},
	"contains-any":            {check: "contains", value: "any"},
	"icontains-any":           {check: "contains", value: "any", fixed: anyCase},
	"contains-all":            {check: "contains", value: "all"},
	"icontains-all":           {check: "contains", value: "all", fixed: anyCase},
	"equals":                  {check: "equals", value: "value"},
	"starts-with":             {check: "starts_with", value: "value"},
	"regex":                   {check: "regex", value: "pattern"},
	"levenshtein":             {check: "levenshtein", value: "value", limit: "max"},
	"similar":                 {check: "similarity", value: "value", limit: "min"},
	"similar:cosine":          {check: "similarity", value: "value", limit: "min"},
	"is-json":                 {check: "json_schema", value: "schema"},
	"contains-json":           {check: "json_schema", value: "schema"},
	"cost":                    {check: "cost", limit: "max"},
	"latency":                 {check: "latency", limit: "max"},
	"is-refusal":              {check: "refusal"},
	"not-is-refusal":          {check: "refusal", fixed: tree.Map{{Key: "refused", Value: false}}},
	"llm-rubric":              {check: "rubric", value: "rubric", limit: "min", judged: true},
	"model-graded-closedqa":   {check: "rubric", value: "rubric", prefix: "The answer meets this criterion: ", judged: true},
	"factuality":              {check: "rubric", value: "rubric", prefix: "The answer does not contradict this, and leaves out nothing that matters: ", judged: true},
	"model-graded-factuality": {check: "rubric", value: "rubric", prefix: "The answer does not contradict this, and leaves out nothing that matters: ", judged: true},
	"g-eval":                  {check: "rubric", value: "rubric", limit: "min", judged: true},
	"answer-relevance":        {check: "rubric", fixed: tree.Map{{Key: "rubric", Value: "The answer is relevant to the question."}}, judged: true},
	"not-contains":            {expr: "not (output contains %s)"},
	"not-icontains":           {expr: "not (lower(output) contains lower(%s))"},
	"not-equals":              {expr: "trim(output) != trim(%s)"},
	"not-starts-with":         {expr: "not (trim(output) startsWith %s)"},
	"not-empty":               {expr: "len(trim(output)) > 0"},
}

// asserts converts a list of assertions.
func (c *config) asserts(at *tree.Value) (out []check) {
	if at == nil {
		return nil
	}
	for _, it := range at.Items {
		if ref := it.Get("$ref").UseText(); strings.HasPrefix(ref, "#/assertionTemplates/") {
			if shared := c.root.Get("assertionTemplates", strings.TrimPrefix(ref, "#/assertionTemplates/")); shared != nil {
				it = shared
			}
		}
		if it.Get("type").Peek() == "assert-set" {
			it.Get("type").Use()
			c.Note(it.Get("threshold"), convert.Todo, "a case passes if all of its checks pass: write a gate over stats for less")
			out = append(out, c.asserts(it.Get("assert"))...)
			continue
		}
		if k, ok := c.assertion(it); ok {
			out = append(out, k)
		}
		c.Note(it.Get("weight"), convert.Dropped, "checks have no weights")
		c.judgeOf(it.Get("provider"))
		c.Note(it.Get("transform"), convert.Todo, "the transform is code: a check's path selects parts of an answer")
		c.Note(it.Get("rubricPrompt"), convert.Todo, "write it as judge.rubric of the suite")
		c.NoteUnused(it, "a check has nothing like it")
	}
	return out
}

// assertion converts one assertion. It returns false if it has no counterpart.
func (c *config) assertion(it *tree.Value) (check, bool) {
	name := it.Get("type").Peek()
	k, ok := assertions[name]
	if !ok {
		c.Note(it, convert.Todo, "assertions of type %s are not converted: write a check of type expr or command", tree.Clip(name))
		return check{}, false
	}
	it.Get("type").Use()
	value := it.Get("value")
	if name == "is-json" || name == "contains-json" {
		return c.schema(it, k), true
	}
	if k.expr != "" {
		return c.expression(it, k)
	}
	out := check{body: tree.Map{{Key: "type", Value: k.check}}}
	if metric := it.Get("metric").UseText(); metric != "" {
		out.body.Put("name", tree.Clip(metric))
	}
	switch {
	case k.value == "":
	case value == nil && k.judged:
		return check{}, false
	case value == nil:
		c.Note(it, convert.Todo, "the assertion has no value")
		return check{}, false
	case k.value == "any" || k.value == "all":
		out.body.Put(k.value, c.listOf(value))
		out.values = []string{k.value}
	case value.Kind == tree.List && k.judged:
		var lines []string
		for _, v := range value.Items {
			lines = append(lines, "- "+c.text(v))
		}
		out.body.Put(k.value, k.prefix+strings.TrimSpace(strings.Join(lines, "\n")))
		out.values = []string{k.value}
	case value.Kind == tree.List || value.Kind == tree.Object:
		out.body.Set(k.value, value.Use().Native(), "")
	default:
		out.body.Set(k.value, k.prefix+c.text(value), "")
		out.values = []string{k.value}
	}
	c.threshold(&out, it, k)
	out.body = append(out.body, k.fixed...)
	return out, true
}

// threshold writes the threshold of a check.
func (c *config) threshold(out *check, it *tree.Value, k kind) {
	at := it.Get("threshold")
	n := at.Number()
	switch {
	case at == nil || k.limit == "" || n == nil:
	case k.check == "latency":
		out.body.Put(k.limit, at.UseText()+"ms")
	default:
		at.Use()
		out.body.Put(k.limit, n)
	}
	if (k.check == "levenshtein") && at == nil {
		out.body.Put("max", 5)
	}
}

// schema converts is-json and contains-json: without a value, any JSON.
func (c *config) schema(it *tree.Value, k kind) check {
	schema := any(tree.Map{})
	if at := it.Get("value"); at != nil {
		if at.Kind == tree.Object {
			schema = at.Use().Native()
		} else if b, err := c.open(at.Peek()); err == nil {
			if roots, _, err := tree.ReadAny(convert.Input{Name: at.Peek(), Text: b}); err == nil && roots[0].Kind == tree.Object {
				schema = roots[0].Native()
				at.Use()
			}
		}
		c.Note(unused(at), convert.Todo, "the schema cannot be read: write it under schema")
	}
	out := check{body: tree.Map{{Key: "type", Value: k.check}}}
	out.body.Set("schema", schema, "")
	return out
}

// unused returns the value if it was not used, or nil.
func unused(it *tree.Value) *tree.Value {
	if it.Used {
		return nil
	}
	return it
}

// expression converts an assertion to an expression over the answer.
func (c *config) expression(it *tree.Value, k kind) (check, bool) {
	it.Get("metric").Use()
	if !strings.Contains(k.expr, "%s") {
		return check{body: tree.Map{{Key: "type", Value: "expr"}, {Key: "that", Value: k.expr}}}, true
	}
	value := it.Get("value")
	if value == nil || value.Kind == tree.List || value.Kind == tree.Object || statement().MatchString(value.Peek()) {
		c.Note(it, convert.Todo, "write a check of type expr: %s", fmt.Sprintf(k.expr, "..."))
		return check{}, false
	}
	return check{body: tree.Map{{Key: "type", Value: "expr"}, {Key: "that", Value: value.UseText()}}, values: []string{"that"}, expr: k.expr}, true
}

// text converts the value of an assertion to a template over the case.
func (c *config) text(it *tree.Value) string {
	s := c.UseRedacted(it)
	if strings.HasPrefix(s, "file://") {
		b, err := c.open(s)
		if err != nil {
			c.Note(it, convert.Todo, "the file cannot be read: %s", tree.OneLine(err.Error()))
		} else {
			s = string(b)
		}
	}
	s = tree.EscapeReferences(s)
	s = reference().ReplaceAllStringFunc(s, func(ref string) string {
		m := reference().FindStringSubmatch(ref)
		c.vars[m[1]] = true
		return "${case." + m[1] + m[2] + "}"
	})
	if rest := statement().FindString(s); rest != "" {
		c.NoteAt(it.File, it.Path, convert.Todo, "templates here have references and no statements: rewrite %s", tree.Clip(rest))
	}
	return s
}

// listOf converts a list, or a text of words separated by commas.
func (c *config) listOf(it *tree.Value) (out []any) {
	if it.Kind != tree.List {
		for word := range strings.SplitSeq(c.text(it), ",") {
			out = append(out, strings.TrimSpace(word))
		}
		return out
	}
	for _, v := range it.Items {
		out = append(out, c.text(v))
	}
	return out
}

// quoted returns a text as a literal of an expression.
func quoted(s string) string { return strconv.Quote(s) }

package aurite

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// suites writes the evaluations whose agents or workflows exist.
func (m *project) suites() error {
	for _, c := range m.byKind(kindEval) {
		if cases := c.it.Get("test_cases"); cases == nil || len(cases.Items) == 0 {
			m.Note(c.it, convert.Dropped, "it has no cases to ask")
			continue
		}
		specs := m.evaluatedSpec(c)
		if len(specs) == 0 {
			m.Note(c.it, convert.Dropped, "it evaluates no agent or workflow that is there: component_refs names them")
			continue
		}
		text, err := tree.WriteYAML(m.head(c), m.suite(c, specs))
		if err != nil {
			return err
		}
		m.files = append(m.files, convert.File{Path: c.id + ".suite.yaml", Text: text})
	}
	return nil
}

// evaluatedSpec returns the specs that an evaluation tests.
func (m *project) evaluatedSpec(c *component) (out []any) {
	at := c.it.Get("component_refs")
	if at == nil {
		return nil
	}
	for _, it := range at.Items {
		s := m.find(it.Peek(), kindAgent, kindLinear, kindGraph)
		if s == nil || s.kind != kindAgent && m.problemOf(s) != "" {
			m.Note(it, convert.Dropped, "no spec was made of it")
			continue
		}
		it.Use()
		if path := m.path(s); !slices.Contains(out, any(path)) {
			out = append(out, path)
		}
	}
	return out
}

// suite converts an evaluation: each case becomes a row, and its expectations
// become a rubric for a judge.
func (m *project) suite(c *component, specs []any) tree.Map {
	var out tree.Map
	out.Put("apiVersion", "pex/v1")
	out.Put("kind", "Suite")
	out.Put("metadata", m.metadata(c))
	if len(specs) == 1 {
		out.Put("spec", specs[0])
	} else {
		out.Put("specs", specs)
	}
	judge := m.judge(c)
	if name, ok := judge.Get("llm").(string); ok { // the spec may have another LLM with this name
		out.Put("llms", tree.Map{{Key: name, Value: m.llms[name]}})
	}
	out.Put("dataset", tree.Map{{Key: "rows", Value: m.rows(c)}})
	if n, ok := c.it.Get("max_concurrent_tests").UseInt(); ok && n > 0 {
		out.Put("concurrency", min(n, 64))
	}
	rubric := tree.Map{
		{Key: "type", Value: "rubric"},
		{Key: "name", Value: "as expected"},
		{Key: "rubric", Value: "The answer does all of this:\n${case.expectations}"},
	}
	checks := []any{rubric}
	if at := c.it.Get("expected_schema"); at != nil && at.Kind == tree.Object {
		checks = append(checks, tree.Map{{Key: "type", Value: "json_schema"}, {Key: "schema", Value: at.Use().Native()}})
	}
	out.Put("checks", checks)
	out.Put("judge", judge)
	out.Put("gates", []any{"stats.pass_rate == 1"})
	if s := c.it.Get("default_timeout").UseSeconds(); s != "" {
		out.Put("limits", tree.Map{{Key: "trial_timeout", Value: s}})
	}
	c.it.Get("component_type").Use()
	m.NoteUnused(c.it, "a suite has no such key: results are kept in a journal, pexctl eval resumes and rescores it, and its flags say how")
	return out
}

// rows returns the cases.
func (m *project) rows(c *component) (out []any) {
	at := c.it.Get("test_cases")
	if at == nil {
		return nil
	}
	taken := map[string]bool{}
	for i, it := range at.Items {
		id := it.Get("name").UseText()
		if id == "" {
			id = it.Get("id").UseText()
		}
		if id == "" {
			id = strconv.Itoa(i + 1)
		}
		m.Note(it.Get("output"), convert.Dropped, "answers are not given beforehand: the spec is run")
		out = append(out, tree.Map{
			{Key: "id", Value: tree.UniqueName(tree.OneLine(id), taken)},
			{Key: "question", Value: m.UseRedacted(it.Get("input"))},
			{Key: "expectations", Value: m.expectations(it.Get("expectations"))},
		})
	}
	return out
}

func (m *project) expectations(at *tree.Value) string {
	var lines []string
	if at != nil {
		for _, it := range at.Items {
			lines = append(lines, "- "+tree.Sentence(m.UseRedacted(it)))
		}
	}
	if len(lines) == 0 {
		return "- It answers the question."
	}
	return strings.Join(lines, "\n")
}

// judge returns the LLM that grades: the named one, or else the first one.
func (m *project) judge(c *component) tree.Map {
	at := c.it.Get("review_llm")
	llm := m.find(at.Peek(), kindLLM)
	if llm == nil && len(m.byKind(kindLLM)) > 0 {
		llm = m.byKind(kindLLM)[0]
		m.NoteAt(c.it.File, c.it.Path, convert.Todo, "it names no review_llm that is there: %s is the judge", llm.id)
	}
	if llm == nil {
		m.NoteAt(c.it.File, c.it.Path, convert.Todo, "no llm is there to judge: name one where %s stands", placeholderModel)
		m.llms["judge"] = tree.Map{{Key: "provider", Value: "anthropic"}, {Key: "model", Value: placeholderModel}}
		return tree.Map{{Key: "llm", Value: "judge"}}
	}
	at.Use()
	return tree.Map{{Key: "llm", Value: m.llm(llm)}}
}

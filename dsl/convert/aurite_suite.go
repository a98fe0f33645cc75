package convert

import (
	"slices"
	"strconv"
	"strings"
)

// suites writes the evaluations whose agents or workflows are there.
func (m *project) suites() error {
	for _, c := range m.of(anEval) {
		if cases := c.it.at("test_cases"); cases == nil || len(cases.items) == 0 {
			m.note(c.it, Dropped, "it has no cases to ask")
			continue
		}
		specs := m.evaluated(c)
		if len(specs) == 0 {
			m.note(c.it, Dropped, "it evaluates no agent or workflow that is there: component_refs names them")
			continue
		}
		text, err := document(m.head(c), m.suite(c, specs))
		if err != nil {
			return err
		}
		m.files = append(m.files, File{Path: c.id + ".suite.yaml", Text: text})
	}
	return nil
}

// evaluated is the specs that an evaluation is of.
func (m *project) evaluated(c *component) (out []any) {
	at := c.it.at("component_refs")
	if at == nil {
		return nil
	}
	for _, it := range at.items {
		s := m.find(it.peek(), anAgent, aLine, aGraph)
		if s == nil || s.kind != anAgent && m.broken(s) != "" {
			m.note(it, Dropped, "no spec was made of it")
			continue
		}
		it.take()
		if path := m.path(s); !slices.Contains(out, any(path)) {
			out = append(out, path)
		}
	}
	return out
}

// suite is an evaluation: each case is a row, and what is expected of it a
// rubric that a judge holds the answer to.
func (m *project) suite(c *component, specs []any) mapping {
	var out mapping
	out.put("apiVersion", "pex/v1")
	out.put("kind", "Suite")
	out.put("metadata", m.metadata(c))
	if len(specs) == 1 {
		out.put("spec", specs[0])
	} else {
		out.put("specs", specs)
	}
	judge := m.judge(c)
	if name, ok := judge.get("llm").(string); ok { // the spec may have another llm of its own
		out.put("llms", mapping{{key: name, value: m.llms[name]}})
	}
	out.put("dataset", mapping{{key: "rows", value: m.rows(c)}})
	if n, ok := c.it.at("max_concurrent_tests").whole(); ok && n > 0 {
		out.put("concurrency", min(n, 64))
	}
	rubric := mapping{
		{key: "type", value: "rubric"},
		{key: "name", value: "as expected"},
		{key: "rubric", value: "The answer does all of this:\n${case.expectations}"},
	}
	checks := []any{rubric}
	if at := c.it.at("expected_schema"); at != nil && at.kind == object {
		checks = append(checks, mapping{{key: "type", value: "json_schema"}, {key: "schema", value: at.take().plain()}})
	}
	out.put("checks", checks)
	out.put("judge", judge)
	out.put("gates", []any{"stats.pass_rate == 1"})
	if s := c.it.at("default_timeout").seconds(); s != "" {
		out.put("limits", mapping{{key: "trial_timeout", value: s}})
	}
	c.it.at("component_type").take()
	m.rest(c.it, "a suite has no such key: results are kept in a journal, pexctl eval resumes and rescores it, and its flags say how")
	return out
}

// rows are the cases.
func (m *project) rows(c *component) (out []any) {
	at := c.it.at("test_cases")
	if at == nil {
		return nil
	}
	taken := map[string]bool{}
	for i, it := range at.items {
		id := it.at("name").word()
		if id == "" {
			id = it.at("id").word()
		}
		if id == "" {
			id = strconv.Itoa(i + 1)
		}
		m.note(it.at("output"), Dropped, "answers are not given beforehand: the spec is run")
		out = append(out, mapping{
			{key: "id", value: unused(oneLine(id), taken)},
			{key: "question", value: m.words(it.at("input"))},
			{key: "expectations", value: m.expectations(it.at("expectations"))},
		})
	}
	return out
}

func (m *project) expectations(at *item) string {
	var lines []string
	if at != nil {
		for _, it := range at.items {
			lines = append(lines, "- "+sentence(m.words(it)))
		}
	}
	if len(lines) == 0 {
		return "- It answers the question."
	}
	return strings.Join(lines, "\n")
}

// judge is the llm that grades: the one named, else the first there is.
func (m *project) judge(c *component) mapping {
	at := c.it.at("review_llm")
	llm := m.find(at.peek(), anLLM)
	if llm == nil && len(m.of(anLLM)) > 0 {
		llm = m.of(anLLM)[0]
		m.remind(c.it.file, c.it.path, Todo, "it names no review_llm that is there: %s is the judge", llm.id)
	}
	if llm == nil {
		m.remind(c.it.file, c.it.path, Todo, "no llm is there to judge: name one where %s stands", unnamed)
		m.llms["judge"] = mapping{{key: "provider", value: "anthropic"}, {key: "model", value: unnamed}}
		return mapping{{key: "llm", value: "judge"}}
	}
	at.take()
	return mapping{{key: "llm", value: m.llm(llm)}}
}

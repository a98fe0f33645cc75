package dsl_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/suitespec"
	"github.com/pexctl/pex/engine/exprenv"
)

const suiteHead = "apiVersion: pex/v1\nkind: Suite\nmetadata: {name: nightly}\n"

// small is a suite with everything that its digests depend on.
const small = suiteHead + `dataset: {rows: [{question: "why?", answer: x}]}
llms:
  strong: {provider: openai, model: big, cost: {input: 1, output: 2}}
checks:
  - {type: contains, value: "${case.answer}"}
  - {type: rubric, criteria: {use: strict}}
judge: {rubric: {file: rubric.md}}
embed: {llm: main}
gates: [stats.pass_rate > 0.5]
concurrency: 2
`

const promptedAgent = agent + "prompts: {strict: Be strict.}\n"

func load(t *testing.T, files map[string]string, set ...string) *suitespec.Suite {
	t.Helper()
	inFolder(t, files)
	o := options()
	o.Set = set
	s, found := dsl.LoadSuite("suite.yaml", o)
	if found.Failed() {
		t.Fatal(found)
	}
	return s
}

func TestDigestsOfASuite(t *testing.T) {
	files := func(suite, spec, rubric string) map[string]string {
		return map[string]string{"suite.yaml": suite, "spec.yaml": spec, "rubric.md": rubric}
	}
	replaced := func(old, new string) map[string]string {
		if !strings.Contains(small, old) {
			t.Fatalf("no %s", old)
		}
		return files(strings.Replace(small, old, new, 1), promptedAgent, "Kind?")
	}
	first := load(t, files(small, promptedAgent, "Kind?"))
	cases := []struct {
		name           string
		files          map[string]string
		set            []string
		whole, grading bool // whether each digest changes
	}{
		{name: "the same", files: files(small, promptedAgent, "Kind?")},
		{name: "other layout", files: replaced(`{type: contains, value: "${case.answer}"}`, "value: ${case.answer}\n    type: contains")},
		{name: "concurrency", files: replaced("concurrency: 2", "concurrency: 3")},
		{name: "limits", files: files(small+"limits: {max_tokens: 3}\n", promptedAgent, "Kind?")},
		{name: "an override", files: files(small, promptedAgent, "Kind?"), set: []string{"repeat=2"}, whole: true},
		{name: "a gate", files: replaced("> 0.5", "> 0.6")},
		{name: "a row", files: replaced(`"why?"`, `"how?"`), whole: true},
		{name: "a price", files: replaced("input: 1", "input: 3"), whole: true},
		{name: "a check", files: replaced("${case.answer}", "${case.question}"), whole: true, grading: true},
		{name: "an expression", files: replaced("  - {type: rubric", "  - output != 1\n  - {type: rubric"), whole: true, grading: true},
		{name: "the judge's model", files: replaced("model: big", "model: bigger"), whole: true, grading: true},
		{name: "the judge's parameters", files: replaced("judge: {", "judge: {temperature: 1, "), whole: true, grading: true},
		{name: "the text of the rubric's file", files: files(small, promptedAgent, "Strict?"), whole: true, grading: true},
		{name: "a prompt that a check uses", files: files(small, strings.Replace(promptedAgent, "Be strict", "Be kind", 1), "Kind?"), whole: true, grading: true},
		{name: "the model that embeds", files: files(small, promptedAgent+"# x\n", "Kind?"), set: []string{"embed.llm=strong"}, whole: true, grading: true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := load(t, c.files, c.set...)
			if got := s.Digest != first.Digest; got != c.whole {
				t.Errorf("the digest differs: %t, want %t", got, c.whole)
			}
			if got := s.GradingDigest != first.GradingDigest; got != c.grading {
				t.Errorf("the digest of what grades differs: %t, want %t", got, c.grading)
			}
		})
	}
}

func TestSuiteCompilesItsParts(t *testing.T) {
	filled := strings.Replace(small, `{rows: [{question: "why?", answer: x}]}`,
		`{rows: [{q: "why?", answer: x, n: 3}], parameters: {question: "Say: ${case.q}", limit: "${case.n}"}}`, 1)
	s := load(t, map[string]string{"spec.yaml": promptedAgent, "rubric.md": "Is it ${case.answer}, ${parameters.question}?", "suite.yaml": filled},
		"gates.1={each: case.pass_rate >= 0.8}")
	row := map[string]any{"q": "why?", "answer": "x", "n": 3}
	lookup := func(ns, name string) (any, bool) { v, ok := row[name]; return v, ok && ns == "case" }
	if got := s.Dataset.Parameters["question"].Render(lookup); got != "Say: why?" {
		t.Errorf("question: %v", got)
	}
	if got := s.Dataset.Parameters["limit"].Render(lookup); got != 3 {
		t.Errorf("a whole value keeps its type: %#v", got)
	}
	if got := strings.Join(s.Judge.Rubric.Render(lookup), ""); !strings.HasPrefix(got, "Is it x, ") {
		t.Errorf("rubric: %q", got)
	}
	stats := map[string]any{"stats": exprenv.Stats{PassRate: 0.9}, "baseline": exprenv.Stats{}}
	if ok, err := s.Gates[0].When.Eval(stats); !ok || err != nil {
		t.Error(ok, err)
	}
	stats["case"] = exprenv.Case{PassRate: 0.7}
	if ok, err := s.Gates[1].When.Eval(stats); ok || err != nil || !s.Gates[1].Each {
		t.Error(s.Gates[1].Each, ok, err)
	}
	if s.Judge.Model.Params.Model != "big" || s.Embed.Name != "main" {
		t.Errorf("judge %+v, embed %+v", s.Judge.Model, s.Embed)
	}
}

// TestOverridesApplyToTheSuite: overrides do not apply to its specs, in which the
// same path may mean something else.
func TestOverridesApplyToTheSuite(t *testing.T) {
	inFolder(t, map[string]string{"spec.yaml": promptedAgent, "suite.yaml": small, "rubric.md": "x"})
	o := options()
	o.Environ = []string{"PEX_SET_REPEAT=7", "PEX_SET_LIMITS__MAX_TOKENS=100"}
	o.Set = []string{"concurrency=5"}
	s, found := dsl.LoadSuite(".", o)
	if len(found) > 0 || s.Repeat != 7 || s.Concurrency != 5 || s.Limits.MaxTokens != 100 {
		t.Fatalf("%+v %s", s, found)
	}
}

// TestOverridesOfShortForms: a short form can be overridden like the
// mapping it stands for.
func TestOverridesOfShortForms(t *testing.T) {
	files := map[string]string{"spec.yaml": promptedAgent, "rubric.md": "x", "cases.csv": "nr,question\n1,why\n"}
	files["suite.yaml"] = strings.Replace(small, `{rows: [{question: "why?", answer: x}]}`, "cases.csv", 1) + "baseline: git:main\n"
	files["suite.yaml"] = strings.Replace(files["suite.yaml"], "${case.answer}", "${case.question}", 1)
	s := load(t, files, "baseline.margin=0.05", "dataset.id=nr")
	if s.Baseline.Ref != "git:main" || s.Baseline.Margin != 0.05 || s.Dataset.ID != "nr" || s.Dataset.Format != "csv" {
		t.Errorf("%+v %+v", s.Baseline, s.Dataset)
	}
	if s := load(t, files, "baseline=run:e-1", "dataset=cases.csv"); s.Baseline.Ref != "run:e-1" || s.Dataset.Format != "csv" {
		t.Errorf("%+v %+v", s.Baseline, s.Dataset)
	}
	files["suite.yaml"] = small // a ref may come from elsewhere
	if s := load(t, files, "baseline.margin=0.05"); s.Baseline.Ref != "" || s.Baseline.Margin != 0.05 {
		t.Errorf("%+v", s.Baseline)
	}
}

func TestMaxErrors(t *testing.T) {
	for text, want := range map[string]suitespec.MaxErrors{
		"5": {Count: 5}, "0": {Count: 0}, "2.5%": {Count: -1, Share: 0.025}, "0%": {Count: 0}, "100%": {Count: -1, Share: 1},
	} {
		t.Run(text, func(t *testing.T) {
			s := load(t, map[string]string{"spec.yaml": promptedAgent, "rubric.md": "x", "suite.yaml": small + "max_errors: " + text + "\n"})
			if s.MaxErrors != want {
				t.Errorf("%+v, want %+v", s.MaxErrors, want)
			}
		})
	}
}

func TestSuiteOfNoKind(t *testing.T) {
	for kind, hint := range map[string]string{"Agent": "in a suite", "Tests": "pexctl test", "Suit": "did you mean Suite?"} {
		t.Run(kind, func(t *testing.T) {
			inFolder(t, map[string]string{"x.yaml": "apiVersion: pex/v1\nkind: " + kind + "\n"})
			s, found := dsl.LoadSuite("x.yaml", options())
			if s != nil || found.Errors() != 1 || !strings.Contains(found[0].Hint, hint) {
				t.Errorf("%v %s", s, found)
			}
		})
	}
}

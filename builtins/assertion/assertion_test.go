package assertion_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/builtins/assertion"
	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/dsl/jsonpath"
	"github.com/pexctl/pex/dsl/prompt"
	"github.com/pexctl/pex/dsl/schema"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/eval/trial"
)

// factory creates a kind of check.
type factory = component.Factory[trial.CheckSettings, trial.Check]

// try creates a check from its defaults, changed by edit.
func try[C any](f factory, s trial.CheckSettings, edit func(*C)) (trial.Check, error) {
	c := f.Config().(*C)
	if edit != nil {
		edit(c)
	}
	return f.Build(c, s)
}

// newCheck creates a valid check.
func newCheck[C any](t testing.TB, f factory, s trial.CheckSettings, edit func(*C)) trial.Check {
	t.Helper()
	c, err := try(f, s, edit)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// wantInvalid checks that creating a check fails with an error that contains want.
func wantInvalid[C any](t *testing.T, f factory, want string, edit func(*C)) {
	t.Helper()
	if _, err := try(f, trial.CheckSettings{}, edit); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: error %v, want %q", f.Type, err, want)
	}
}

// expect is the expected outcome of a check. The texts may be substrings.
type expect struct {
	pass    bool
	score   float64 // 0 with pass means 1
	message string
	err     string // if not "", the check itself fails
}

var pass = expect{pass: true}

// check runs a check and compares the outcome.
func check(t *testing.T, c trial.Check, s *trial.Subject, want expect) trial.Mark {
	t.Helper()
	m, err := c.Check(t.Context(), s)
	if want.err != "" {
		if err == nil || !strings.Contains(err.Error(), want.err) {
			t.Errorf("got %+v, %v; want an error with %q", m, err, want.err)
		}
		return m
	}
	if err != nil {
		t.Errorf("the check returned an error: %v", err)
		return m
	}
	if want.pass && want.score == 0 {
		want.score = 1
	}
	if m.Pass != want.pass || fmt.Sprintf("%.3f", m.Score) != fmt.Sprintf("%.3f", want.score) || !strings.Contains(m.Message, want.message) {
		t.Errorf("pass %v, score %.3f, %q; want %+v", m.Pass, m.Score, m.Message, want)
	}
	if m.Message == "" {
		t.Error("a mark without a message")
	}
	for _, shown := range []string{m.Expected, m.Actual, m.Message, m.Diff} {
		if len(shown) > 2200 {
			t.Errorf("a mark has %d bytes", len(shown))
		}
	}
	return m
}

// withResponse returns a subject with a response.
func withResponse(response string) *trial.Subject {
	return &trial.Subject{
		Case:       map[string]any{"answer": "Paris", "n": json.Number("42"), "list": []any{"a", "b"}, "blank": "", "null": nil, "user": map[string]any{"name": "Ana"}},
		Parameters: map[string]any{"question": "Capital of France?", "limit": 3},
		Result:     &engine.Result{Response: response, Status: stop.RunCompleted, StopReason: stop.Reason{Code: stop.Answered}},
		Output:     response, Trace: exprenv.Trace{Response: response},
	}
}

// withOutput returns a subject with a validated output.
func withOutput(output string) *trial.Subject {
	s := withResponse(output)
	s.Result.Output = json.RawMessage(output)
	s.Output = jsonvalue.Plain(s.Result.Output)
	return s
}

func parseNumeral(t testing.TB, src string) *prompt.Template {
	t.Helper()
	p, problems := prompt.Parse(src, prompt.Options{Namespaces: []string{"case", "parameters"}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return p
}

// template compiles a template as the dsl does.
func template(t testing.TB, src string) component.Template {
	out := component.Template{Text: src}
	out.Bind(parseNumeral(t, src).Render)
	return out
}

func templates(t testing.TB, src ...string) []component.Template {
	var out []component.Template
	for _, s := range src {
		out = append(out, template(t, s))
	}
	return out
}

func promptRef(t testing.TB, src string) component.PromptRef {
	out := component.PromptRef{Text: src}
	p := parseNumeral(t, src)
	out.Bind(p.Render, p.Names())
	return out
}

// anyValue compiles a value from JSON, as the dsl does.
func anyValue(t testing.TB, src string) component.Value {
	t.Helper()
	v, err := schema.Decode([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	out := component.Value{JSON: json.RawMessage(src)}
	out.Bind(func(l component.Lookup) any { return fill(t, v, l) })
	return out
}

func fill(t testing.TB, v any, l component.Lookup) any {
	switch v := v.(type) {
	case string:
		p := parseNumeral(t, v)
		if whole, ok := p.Whole(l); ok {
			return whole
		}
		return p.Text(l)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = fill(t, v[i], l)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k := range v {
			out[k] = fill(t, v[k], l)
		}
		return out
	}
	return v
}

func path(t testing.TB, src string) component.FilterRef {
	t.Helper()
	p, err := jsonpath.Compile(src)
	if err != nil {
		t.Fatal(err)
	}
	out := component.FilterRef{Source: src}
	out.Bind(p.Select)
	return out
}

func schemaRef(t testing.TB, src string) component.SchemaRef {
	t.Helper()
	s, err := schema.Compile([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	out := component.SchemaRef{JSON: json.RawMessage(src)}
	out.Bind(s)
	return out
}

func guardRef(t testing.TB, src string) component.GuardRef {
	t.Helper()
	env, ok := guard.Place("checks", nil)
	if !ok {
		t.Fatal("there is no place checks")
	}
	g, p := guard.Compile(src, env)
	if p != nil {
		t.Fatal(p)
	}
	out := component.GuardRef{Source: src}
	out.Bind(g.Eval)
	return out
}

func TestEveryCheckIsListed(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(src), "component.New(") && !strings.HasSuffix(f, "_test.go") {
			want = append(want, strings.TrimSuffix(f, ".go"))
		}
	}
	got := assertion.All().Types()
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEveryKeyIsDocumentedAndDoesNotShadowACommonKey(t *testing.T) {
	common := []string{"type", "name", "weight", "not"}
	for _, f := range assertion.All() {
		c := reflect.TypeOf(f.Config()).Elem()
		if f.Doc == "" || c.NumField() == 0 {
			t.Errorf("%s has no description", f.Type)
		}
		for field := range c.Fields() {
			key, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
			if key == "" || field.Tag.Get("doc") == "" {
				t.Errorf("%s.%s has no key or no doc", f.Type, field.Name)
			}
			if slices.Contains(common, key) {
				t.Errorf("%s redefines the common key %s", f.Type, key)
			}
		}
	}
}

package diff_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diff"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/costbound"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
)

// The specs of these tests are libraries: LLMs, tools and prompts, without nodes.
// testdata/diff tests complete agents with the components of pexctl.

type anyConfig struct {
	Deep map[string]any `yaml:"deep" doc:"Anything."`
	Size int            `yaml:"size" doc:"A number."`
}

type anyModel struct{ model.Model }

type anyTool struct{ tool.Tool }

func (anyTool) Info() tool.Info { return tool.Info{Name: "any", Effect: tool.ReadEffect} }

func defaults() anyConfig { return anyConfig{Size: 3} }

var catalog = engine.Catalog{
	Models: component.Set[model.Settings, model.Model]{
		component.New("any", "Anything.", defaults, func(*anyConfig, model.Settings) (model.Model, error) { return anyModel{}, nil }),
	},
	Tools: component.Set[tool.Settings, tool.Tool]{
		component.New("any", "Anything.", defaults, func(*anyConfig, tool.Settings) (tool.Tool, error) { return anyTool{}, nil }),
	},
}

// load loads a library with sections.
func load(t *testing.T, sections string) *dsl.Spec {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lib.yaml")
	if err := os.WriteFile(path, []byte("apiVersion: pex/v1\nkind: Library\n"+sections), 0o600); err != nil {
		t.Fatal(err)
	}
	s, found := dsl.Load(path, dsl.Options{Catalog: catalog})
	if found.Failed() {
		t.Fatal(found.String())
	}
	return s
}

// formatChanges formats each change on one line.
func formatChanges(r diff.Report) []string {
	var out []string
	for _, s := range r.Sections {
		for _, c := range s.Changes {
			line := strings.Join([]string{s.Name, string(c.Kind), c.Path}, " ")
			if c.Old != "" || c.New != "" {
				line += ": " + c.Old + " > " + c.New
			}
			if c.Diff != "" {
				line += " | " + c.Diff
			}
			if len(c.Users) > 0 {
				line += " @ " + strings.Join(c.Users, ",")
			}
			out = append(out, line)
		}
	}
	return out
}

func sideBySide(before, after string) string {
	return strings.TrimSpace(before) + "=>" + strings.TrimSpace(after)
}

func TestCompare(t *testing.T) {
	const llm = "llms: {m: {provider: any, system_prompt: 'Hi. ${prompts.tone}'}}\nprompts: {tone: Be brief.}\n"
	tests := []struct {
		name     string
		old, now string
		want     []string
	}{
		{"the order of keys", "llms: {a: {provider: any, model: x}, b: {provider: any}}", "llms:\n  b: {provider: any}\n  a: {model: x, provider: any}\n", nil},
		{"a default written out", "llms: {a: {provider: any}}", "llms: {a: {provider: any, retry: {max_attempts: 3}, options: {size: 3}}}", nil},
		{"numbers and durations", "llms: {a: {provider: any, temperature: 1, timeout: 90s}}", "llms: {a: {provider: any, temperature: 1.0, timeout: 1m30s}}", nil},
		{"another default", "llms: {a: {provider: any}}", "llms: {a: {provider: any, options: {size: 4}}}", []string{"models changed llms.a.options.size: 3 > 4"}},
		{"zero is not nothing", "llms: {a: {provider: any}}", "llms: {a: {provider: any, temperature: 0}}", []string{"models added llms.a.temperature:  > 0"}},
		{"a text is not a number", "tools: {any: {deep: {x: 1}}}", "tools: {any: {deep: {x: '1'}}}", []string{"tools changed tools.any.deep.x: 1 > 1"}},
		{"an order", "llms: {a: {provider: any, stop: [x, y]}}", "llms: {a: {provider: any, stop: [y, x]}}", []string{"models reordered llms.a.stop: [x, y] > [y, x]"}},
		{"entries", "tools: {any: {}}", "tools: {other: {type: any}}", []string{"tools added tools.other:  > any", "tools removed tools.any: any > "}},
		{"a named prompt within one", llm, strings.ReplaceAll(llm, "brief", "kind"), []string{"prompts changed prompts.tone: 1 line > 1 line | Be brief.=>Be kind. @ llms.m.system_prompt"}},
		{"a named prompt put in", llm, "llms: {m: {provider: any, system_prompt: Hi. Be brief.}}", nil},
		{"a named prompt by its name", llm, "llms: {m: {provider: any, system_prompt: {use: all}}}\nprompts: {all: 'Hi. ${prompts.t}', t: Be brief.}", nil},
		{"a filter", "llms: {m: {provider: any, system_prompt: \"a\\n  b\"}}", "llms: {m: {provider: any, system_prompt: '${prompts.t|indent 2}'}}\nprompts: {t: \"a\\nb\"}", nil},
		{"an escape is text", "llms: {m: {provider: any, system_prompt: '$${prompts.t}'}}\nprompts: {t: a}", "llms: {m: {provider: any, system_prompt: '$${prompts.t}'}}\nprompts: {t: b}", nil},
		{"a prompt that nobody uses", llm + "  \n", strings.Replace(llm, "{tone", "{unused: x, tone", 1), nil},
		{"put in and changed", llm, "llms: {m: {provider: any, system_prompt: Hi. Be kind.}}", []string{"prompts changed llms.m.system_prompt: 1 line > 1 line | Hi. Be brief.=>Hi. Be kind."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := diff.Compare(load(t, tt.old), load(t, tt.now), diff.Options{Unified: sideBySide})
			if d := cmp.Diff(tt.want, formatChanges(r)); d != "" {
				t.Error(d)
			}
			if r.Same != (len(tt.want) == 0) || r.Count() != len(tt.want) {
				t.Errorf("same %v, %d changes", r.Same, r.Count())
			}
			if again := diff.Compare(load(t, tt.now), load(t, tt.now), diff.Options{}); !again.Same {
				t.Errorf("it differs from itself: %v", formatChanges(again))
			}
		})
	}
}

func TestAddedAndRemovedSpecs(t *testing.T) {
	s := load(t, "llms: {a: {provider: any, model: x, api_key_env: KEY}}")
	want := []string{"models added llms.a:  > any x", "reach added env.KEY:  > KEY"}
	fresh := diff.Compare(nil, s, diff.Options{})
	if d := cmp.Diff(want, formatChanges(fresh)); d != "" {
		t.Error(d)
	}
	if effects := fresh.Effects(); len(effects) != 1 || effects[0].Effect != diff.Looser {
		t.Errorf("effects of a new one: %+v", effects)
	}
	gone := diff.Compare(s, nil, diff.Options{})
	if effects := gone.Effects(); len(formatChanges(gone)) != 2 || len(effects) != 0 {
		t.Errorf("gone: %v, effects %v", formatChanges(gone), effects)
	}
	if none := diff.Compare(nil, nil, diff.Options{}); !none.Same {
		t.Errorf("nothing differs from nothing: %v", formatChanges(none))
	}
}

func TestShiftPercent(t *testing.T) {
	figure := func(n int) *costbound.Count { return &costbound.Count{Most: n} }
	tests := []struct {
		name  string
		shift diff.Shift[int]
		moved bool
		want  string
	}{
		{"up", diff.Shift[int]{Old: figure(4), New: figure(5)}, true, `{"old":{"most":4},"new":{"most":5},"percent":25}`},
		{"the same", diff.Shift[int]{Old: figure(4), New: figure(4)}, false, `{"old":{"most":4},"new":{"most":4},"percent":0}`},
		{"from nothing", diff.Shift[int]{Old: figure(0), New: figure(4)}, true, `{"old":{"most":0},"new":{"most":4}}`},
		{"no bound any more", diff.Shift[int]{Old: figure(4), New: &costbound.Count{Unbounded: "why"}}, true, `{"old":{"most":4},"new":{"unbounded":"why"}}`},
		{"of a new spec", diff.Shift[int]{New: figure(4)}, true, `{"new":{"most":4}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := json.Marshal(tt.shift)
			if err != nil || string(got) != tt.want || tt.shift.Changed() != tt.moved {
				t.Errorf("%s, moved %v, %v", got, tt.shift.Changed(), err)
			}
		})
	}
}

// FuzzPrompts compares prompts that contain named prompts with themselves, and
// with their expansion.
func FuzzPrompts(f *testing.F) {
	f.Add("Hi. ${prompts.b}", "Be ${prompts.c|indent 2}.", "brief\nand kind")
	f.Add("$${prompts.b} ${parameters.x:-${prompts.b}}", "$<prompts.c>", "}")
	f.Add("${prompts.b", "${prompts.b}", "${prompts.a}")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		text, err := json.Marshal(map[string]any{
			"apiVersion": "pex/v1", "kind": "Library",
			"llms":    map[string]any{"m": map[string]any{"provider": "any", "system_prompt": a}},
			"prompts": map[string]any{"b": b, "c": c},
		})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "lib.yaml")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		s, found := dsl.Load(path, dsl.Options{Catalog: catalog})
		if s == nil || found.Failed() {
			t.Skip()
		}
		if r := diff.Compare(s, s, diff.Options{Unified: sideBySide}); !r.Same {
			t.Errorf("it differs from itself: %v", formatChanges(r))
		}
		other := load(t, "llms: {m: {provider: any, system_prompt: other}}")
		if r := diff.Compare(s, other, diff.Options{Unified: sideBySide}); r.Same && strings.TrimSpace(a) != "other" && !strings.Contains(a, "prompts") {
			t.Errorf("%q is not the other one", a)
		}
	})
}

package dsl_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
)

// edited is a spec whose prompts are written in every way.
var edited = map[string]string{
	"spec.yaml": head + `include: [lib.yaml]
prompts:
  plan: 'Plan ${parameters.question}. ${prompts.tone}'
  shape: '{"type": "object"}'
planner:
  system_prompt: {use: plan}
  planner_prompt: {file: prompt.md}
output: {schema: {use: shape}}
memory: {compaction: {summarize: {}}}
tools:
  writer: {type: agent, ref: writer.yaml}
  editor: {type: agent, ref: '#editor'}
agents:
  editor: {planner: {system_prompt: Edit}}
`,
	"lib.yaml":    "kind: Library\nprompts: {tone: Be brief.}\n",
	"prompt.md":   "Plan\nwell.\n",
	"writer.yaml": strings.Replace(head, "name: ", "name: writer-", 1) + "tools: {inner: {type: agent, ref: inner.yaml}}\nplanner: {system_prompt: Write}\n",
	"inner.yaml":  strings.Replace(head, "name: ", "name: inner-", 1) + "planner: {system_prompt: Deep}\n",
}

func textOf(p *engine.Program, name string) string {
	for _, q := range p.AllPrompts() {
		if q.Name == name {
			return q.Text
		}
	}
	return "(none)"
}

// An edit of the program that a run stored is the same as one of its files.
func TestEditsReplacePrompts(t *testing.T) {
	write(t, edited)
	o := dsl.Options{Catalog: catalog}
	original, spec, found := dsl.Compile("spec.yaml", o)
	if original == nil {
		t.Fatal(found)
	}
	for _, tt := range []struct{ name, text, canonical string }{
		{"planner.system_prompt", "Now: ${parameters.question}\n", ""},
		{"planner.planner_prompt", "Overlays the file.", ""},
		{"planner.planner_prompt_template", "Not written in the spec: ${parameters.question}", ""},
		{"reflector.reflect_prompt_template", "A role that is not written", ""},
		{"plan", "Named.", "prompts.plan"},
		{"prompts.tone", "Of a library: ${parameters.question}", ""},
		{"memory.compaction.summarize.prompt", "Shorter.", ""},
		{"tools.writer/planner.system_prompt", "An agent of a file", ""},
		{"tools.editor/planner.system_prompt", "An agent of this file", ""},
		{"tools.writer/tools.inner/planner.system_prompt", "An agent of an agent", ""},
		{"tools.editor/tone", "Only there", "tools.editor/prompts.tone"},
		{"planner.system_prompt", "", ""},
		{"planner.system_prompt", strings.Repeat("a", 1<<20), ""},
		{"planner.system_prompt", "<script>alert(1)</script>\n{\"a\": 'b'} *x &y !!z # no comment: %\x00\n", ""},
	} {
		o.Prompts = map[string]string{tt.name: tt.text}
		if tt.canonical == "" {
			tt.canonical = tt.name
		}
		now, _, found := dsl.Compile("spec.yaml", o)
		again, foundAgain := dsl.Recompile(original.Source, spec.Dir, o)
		if now == nil || again == nil {
			t.Fatalf("%s: %v %v", tt.name, found, foundAgain)
		}
		if now.Digest != again.Digest || now.Digest == original.Digest {
			t.Errorf("%s: digests %s of the file, %s of the stored program, %s before", tt.name, now.Digest, again.Digest, original.Digest)
		}
		if got := textOf(again, tt.canonical); got != tt.text {
			t.Errorf("%s is %.80q", tt.canonical, got)
		}
		for _, p := range original.AllPrompts() {
			before := p.Text
			if got := textOf(again, p.Name); got != before && p.Name != tt.canonical && p.Use == "" {
				t.Errorf("%s also changes %s to %.80q", tt.name, p.Name, got)
			}
		}
	}
}

// An edit changes prompts for models only, and its mistakes have a place in its text.
func TestEditsAreVetted(t *testing.T) {
	write(t, edited)
	o := dsl.Options{Catalog: catalog}
	original, spec, found := dsl.Compile("spec.yaml", o)
	if original == nil {
		t.Fatal(found)
	}
	for _, tt := range []struct{ name, text, want string }{
		{"planner.system_prompt", "one\ntwo ${parameters.questoin}", `prompt planner.system_prompt:2:5: error PEX030`},
		{"tools.writer/planner.system_prompt", "${parameters.x}", `prompt tools.writer/planner.system_prompt:1:1: error`},
		{"prompts.tone", "a ${prompts.nothing}", `prompt prompts.tone:1:3: error`},
		{"prompts.tone", "${prompts.plan}", "includes itself"},
		{"planner.system_promt", "x", `undefined prompt "planner.system_promt"`},
		{"planner.system_promt", "x", `did you mean planner.system_prompt?`},
		{"prompts.none", "x", `undefined prompt "prompts.none"`},
		{"tools.missing/planner.system_prompt", "x", "undefined prompt"},
		{"tools.writer/planner.nothing", "x", "undefined prompt"},
		{"limits.max_steps", "3", `undefined prompt "limits.max_steps"`},
		{"planner.approval", "never", `undefined prompt "planner.approval"`},
		{"planner.llm", "main", "undefined prompt"},
		{"executor.tools", "x", "undefined prompt"},
		{"metadata.description", "x", "undefined prompt"},
		{"tools.writer.description", "x", "undefined prompt"},
		{"llms.main.model", "x", "undefined prompt"},
		{"llms.main.system_prompt", "x", "a fork cannot edit llms.main.system_prompt"},
		{"executor.system_prompt", "x", "a fork cannot edit executor.system_prompt"},
		{"prompts.shape", "true", "a fork cannot edit prompts.shape"},
		{"planner.system_prompt", strings.Repeat("a", 1<<20+1), "the maximum is"},
		{"planner.system_prompt", "a \xff", "not valid UTF-8"},
		{"planner.system_prompt", "a \u202e b", "warning"},
		{".", "x", "undefined prompt"},
		{"/", "x", "undefined prompt"},
		{"", "x", "undefined prompt"},
	} {
		o.Prompts = map[string]string{tt.name: tt.text}
		_, _, ofFile := dsl.Compile("spec.yaml", o)
		_, ofRun := dsl.Recompile(original.Source, spec.Dir, o)
		for _, found := range []diag.List{ofFile, ofRun} {
			if !strings.Contains(found.String(), tt.want) {
				t.Errorf("%s:\n%s\nwant %s", tt.name, found, tt.want)
			}
		}
	}
}

// A node of a graph has prompts of its own.
func TestEditsOfAGraph(t *testing.T) {
	write(t, map[string]string{"spec.yaml": head + `planner: {system_prompt: Shared}
graph:
  nodes: [{id: first, type: planner}, {id: choice, type: router, prompt: 'So: ${parameters.question}'}]
  edges: [{from: first, to: choice}]
`})
	for _, tt := range []struct {
		edited string
		want   map[string]string
	}{
		{"first.system_prompt", map[string]string{"planner.system_prompt": "Shared", "first.system_prompt": "New"}},
		{"planner.system_prompt", map[string]string{"planner.system_prompt": "New", "first.system_prompt": "New"}},
		{"choice.prompt", map[string]string{"planner.system_prompt": "Shared", "choice.prompt": "New"}},
	} {
		p, _, found := dsl.Compile("spec.yaml", dsl.Options{Catalog: catalog, Prompts: map[string]string{tt.edited: "New"}})
		if p == nil {
			t.Fatal(found)
		}
		for name, want := range tt.want {
			if got := textOf(p, name); got != want {
				t.Errorf("%s edited: %s is %q", tt.edited, name, got)
			}
		}
	}
}

func TestPromptsOfAProgram(t *testing.T) {
	write(t, edited)
	p, _, found := dsl.Compile("spec.yaml", dsl.Options{Catalog: catalog})
	if p == nil {
		t.Fatal(found)
	}
	var got []engine.Prompt
	for _, q := range p.AllPrompts() {
		if !q.BuiltIn {
			got = append(got, q)
		}
	}
	want := []engine.Prompt{
		{Name: "planner.system_prompt", Text: "Plan ${parameters.question}. ${prompts.tone}", Use: "plan", References: []string{"parameters.question", "prompts.tone"}},
		{Name: "planner.planner_prompt", Text: "Plan\nwell.\n"},
		{Name: "prompts.plan", Text: "Plan ${parameters.question}. ${prompts.tone}"},
		{Name: "prompts.shape", Text: `{"type": "object"}`, Fixed: true},
		{Name: "prompts.tone", Text: "Be brief."},
		{Name: "tools.writer/planner.system_prompt", Text: "Write"},
		{Name: "tools.writer/tools.inner/planner.system_prompt", Text: "Deep"},
		{Name: "tools.editor/planner.system_prompt", Text: "Edit"},
	}
	for _, w := range want {
		if !slices.ContainsFunc(got, func(q engine.Prompt) bool { return cmp.Equal(q, w) }) {
			t.Errorf("%s is missing in %+v", w.Name, got)
		}
	}
}

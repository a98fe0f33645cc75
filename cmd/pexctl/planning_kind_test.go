package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
)

// outlineConfig is the Config of `type: outline`, a node kind that only this test
// has.
type outlineConfig struct {
	LLM           component.ModelRef  `yaml:"llm" doc:"The llm that writes the outline."`
	OutlinePrompt component.PromptRef `yaml:"outline_prompt" vars:"parameters,@node" required:"true" doc:"What the outline is of."`
}

// outlineKind plans differently than the planner: each line of a reply is a step.
var outlineKind = component.New("outline", "Makes a plan of the lines of a text.",
	func() outlineConfig { return outlineConfig{} },
	func(c *outlineConfig, s engine.NodeSettings) (engine.Node, error) { return &outline{c, s.ID}, nil })

type outline struct {
	cfg *outlineConfig
	id  string
}

var (
	_ engine.Planner   = (*outline)(nil)
	_ engine.Requester = (*outline)(nil)
	_ engine.Bounded   = (*outline)(nil)
)

func (o *outline) PlanRules() engine.PlanRules { return engine.PlanRules{Format: "list"} }

func (o *outline) Prompt(v engine.View) []model.Message {
	text := o.cfg.OutlinePrompt.Render(func(_, name string) (any, bool) {
		value, ok := v.State.Parameters[name]
		return value, ok
	})
	return []model.Message{{Role: model.User, Text: model.Text(text)}}
}

func (o *outline) Call(v engine.View) model.Call {
	return model.Call{Role: "outliner", LLM: o.cfg.LLM.Name, Messages: o.Prompt(v)}
}

func (o *outline) WorstCase(*engine.Program) engine.WorstCase {
	return engine.WorstCase{Visit: []engine.CallBound{{Role: "outliner", LLM: o.cfg.LLM.Name}}, Plans: true}
}

func (o *outline) Run(s engine.Scope) error {
	s = s.Child(s.Nth("outline"))
	v := s.View()
	r, err := s.Model("model", o.Call(v))
	if err != nil {
		return err
	}
	var steps []plan.Step
	for line := range strings.Lines(r.Text) {
		steps = append(steps, plan.Step{ID: fmt.Sprintf("o%d_%d", v.State.Plan.Version, len(steps)), Goal: strings.TrimSpace(line)})
	}
	s.Record(engine.PlanAccepted{Steps: steps, By: o.id, Planner: o.id, Replan: v.State.Plan.Version > 0})
	return nil
}

const outlineSpec = `apiVersion: pex/v1
kind: Agent
metadata: {name: outlined}
llms:
  main:
    provider: scripted
    options:
      replies:
        - {when: 'role == "outliner" && call == 1', text: "Look\nListen"}
        - {when: 'role == "outliner"', text: "Listen again"}
        - {role: executor, times: 0, text: done}
        - {role: finalizer, text: the report}
graph:
  nodes:
    - {id: draft, type: outline, llm: main, outline_prompt: "Outline: ${parameters.question}"}
    - {id: work, type: executor}
    - {id: report, type: finalizer}
  edges:
    - {from: draft, to: work}
    - {from: work, to: report}
    - {from: report, to: end}
tests:
  - {name: prompts, render: draft}
guards:
  - {name: once more, at: after_step, when: run.replans == 0, do: replan, message: look closer}
`

// A node kind that plans takes one file, above, and one line, in with: commands,
// the runtime and the language server need no changes.
func TestPlanningNodeKindTakesOneFileAndOneLine(t *testing.T) {
	t.Setenv("CI", "") // so that a golden file is written
	dir := t.TempDir()
	spec := filepath.Join(dir, "spec.yaml")
	other := filepath.Join(dir, "other.yaml")
	for file, text := range map[string]string{spec: outlineSpec, other: strings.Replace(outlineSpec, "Outline: ", "Sketch: ", 1)} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	with := func(io streams, args ...string) int {
		env := newEnv(io)
		env.Catalog.Nodes = append(env.Catalog.Nodes, outlineKind)
		app := newApp(env)
		arranged, err := ui.Arrange(app, args)
		if err == nil {
			err = app.Run(append([]string{"pexctl"}, arranged...))
		}
		return ui.PrintError(err, io.err)
	}
	home := filepath.Join(dir, "home")
	for _, tt := range []struct {
		name string
		args []string
		want []string
	}{
		{"vet finds nothing wrong", []string{"vet", spec}, []string{"no errors, no warnings"}},
		{"its calls are a part of the worst case", []string{"vet", "--cost", spec}, []string{"outliner"}},
		{"its prompt can be rendered", []string{"render", spec, "--node", "draft", "-p", "question=Why?"}, []string{"Outline: Why?"}},
		{"by the name of its type too", []string{"render", spec, "--node", "outline", "-p", "question=Why?"}, []string{"Outline: Why?"}},
		{"a guard's new plan comes from it", []string{"run", spec, "Why?", "--home", home, "-o", "json"}, []string{`"the report"`, "Look", "Listen again"}},
		{"diff names its key", []string{"diff", spec, other}, []string{"graph.nodes.draft.outline_prompt"}},
		{"the schema has its keys", []string{"schema"}, []string{"outline_prompt"}},
		{"a test keeps its prompt as a golden file", []string{"test", spec, "--update"}, []string{"draft.prompt.md"}},
		{"tools and models see it", []string{"models", "ls", spec}, []string{"draft"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			if code := with(streams{strings.NewReader(""), &out, &out}, tt.args...); code != 0 {
				t.Errorf("exit code %d", code)
			}
			for _, w := range tt.want {
				if !strings.Contains(out.String(), w) {
					t.Errorf("no %q", w)
				}
			}
			if t.Failed() {
				t.Log(out.String())
			}
		})
	}
	t.Run("an editor completes its keys", func(t *testing.T) {
		text := strings.Replace(outlineSpec, `outline_prompt: "Outline: ${parameters.question}"`, "o", 1)
		line, column := cursorAt(text, "llm: main, o}")
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		ended := make(chan int, 1)
		go func() {
			ended <- with(streams{in, out, io.Discard}, "lsp")
			_ = out.Close() // a pipe in memory
		}()
		e := &editor{t: t, told: make(chan json.RawMessage, 100), Client: jrpc2.NewClient(channel.LSP(fromServer, toServer), nil)}
		e.ask("initialize", `{"capabilities":{}}`)
		e.tell("initialized", `{}`)
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		uri := "file://" + spec
		e.tell("textDocument/didOpen", fmt.Sprintf(`{"textDocument":{"uri":%q,"languageId":"yaml","version":1,"text":%s}}`, uri, quoted))
		items := e.ask("textDocument/completion", fmt.Sprintf(`{"textDocument":{"uri":%q},"position":{"line":%d,"character":%d}}`, uri, line, column))
		if !strings.Contains(string(items), `"label":"outline_prompt"`) {
			t.Errorf("no completion of outline_prompt: %s", items)
		}
		e.ask("shutdown", `null`)
		e.tell("exit", `null`)
		_ = e.Close() // the server may have closed its end
		if code := <-ended; code != 0 {
			t.Errorf("the server ends with %d", code)
		}
	})
}

// cursorAt returns the position after the first letter of a key that ends a flow
// mapping.
func cursorAt(text, mark string) (line, column int) {
	before := text[:strings.Index(text, mark)+len(mark)-1]
	return strings.Count(before, "\n"), len(before) - strings.LastIndex(before, "\n") - 1
}

package diagram_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/diagram"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
)

// role is a node that plans, runs steps and describes itself.
type role struct {
	engine.Node
	worst    engine.WorstCase
	approval string
}

func (r role) WorstCase(*engine.Program) engine.WorstCase { return r.worst }
func (r role) Describe() []graph.Note {
	return []graph.Note{{Kind: graph.PromptNote, Text: "prompts/x.md"}}
}

type planner struct{ role }

func (p planner) PlanRules() engine.PlanRules {
	return engine.PlanRules{Approval: component.GuardRef{Source: p.approval}}
}

type runner struct{ role }

func (runner) StepTools(engine.View) []tool.Info { return nil }

func program() *engine.Program {
	ask := func(llm string) []engine.CallBound { return []engine.CallBound{{LLM: llm}, {LLM: llm}} }
	guard := func(i int, at engine.GuardPlace, name string) engine.Guard {
		return engine.Guard{Index: i, At: at, Do: engine.GuardStop, Name: name, When: component.GuardRef{Source: "true"}}
	}
	return &engine.Program{
		Name: "demo",
		Models: []engine.ModelSpec{
			{Name: "main", Provider: "openai", Params: model.Params{Model: "gpt-5.4-mini"}, Fallback: []string{"spare"}},
			{Name: "spare", Provider: "scripted"},
		},
		Tools: []tool.Spec{{Name: "calculator"}, {Name: "refund", Approval: component.GuardRef{Source: "always"}}, {Name: "clock", Approval: component.GuardRef{Source: "never"}}},
		Graph: &graph.Graph[engine.Condition]{Start: "planner", Nodes: []graph.Node{{ID: "planner", Type: "planner"}, {ID: "work", Type: "executor"}}},
		Nodes: map[string]engine.Node{
			"planner": planner{role{worst: engine.WorstCase{Visit: ask("main")}, approval: "len(plan.steps) > 3"}},
			"work": runner{role{worst: engine.WorstCase{Step: append(ask("spare"),
				engine.CallBound{Tools: []string{"calculator", "refund", "clock"}}, engine.CallBound{Agent: &engine.Program{Name: "clerk", File: "clerk.yaml"}})}}},
		},
		Guards: []engine.Guard{
			guard(0, engine.AfterPlan, "p"), guard(1, engine.BeforeTool, "b"), guard(2, engine.AfterStep, ""), guard(3, engine.AfterReflect, "r"),
		},
		Limits: engine.Limits{MaxSteps: 20, MaxCost: 0.25, MaxDuration: 90 * time.Minute},
	}
}

func TestNotesDescribeNodes(t *testing.T) {
	note := func(kind graph.NoteKind, text string) graph.Note { return graph.Note{Kind: kind, Text: text} }
	want := map[string][]graph.Note{
		"": {
			note(graph.LimitNote, "max_steps 20"), note(graph.LimitNote, "max_cost $0.25"), note(graph.LimitNote, "max_duration 1h30m"),
			note(graph.GuardNote, "after_reflect: stop when true (r)"), // no node reviews plans
		},
		"planner": {
			note(graph.ModelNote, "gpt-5.4-mini (main), fallback spare"), note(graph.ApprovalNote, "when len(plan.steps) > 3"),
			note(graph.PromptNote, "prompts/x.md"), note(graph.GuardNote, "after_plan: stop when true (p)"),
		},
		"work": {
			note(graph.ModelNote, "scripted (spare)"), note(graph.ToolNote, "calculator"),
			{Kind: graph.ToolNote, Text: "refund", Approval: "always"},
			note(graph.ToolNote, "clock"), note(graph.AgentNote, "clerk (clerk.yaml)"),
			note(graph.PromptNote, "prompts/x.md"), note(graph.GuardNote, "before_tool: stop when true (b)"), note(graph.GuardNote, "after_step: stop when true"),
		},
	}
	if d := cmp.Diff(want, diagram.Notes(program())); d != "" {
		t.Error(d)
	}
}

func TestPictureContainsNotes(t *testing.T) {
	const want = `demo
limits: max_steps 20, max_cost $0.25, max_duration 1h30m
guard: after_reflect: stop when true (r)

  start
  │
  ▼
┌─────────────────────────────────────────┐
│ planner                                 │
│ gpt-5.4-mini (main), fallback spare     │
│ prompt: prompts/x.md                    │
│ plan approval: when len(plan.steps) > 3 │
│ guard: after_plan: stop when true (p)   │
└─────────────────────────────────────────┘

┌─────────────────────────────────────────┐
│ work (executor)                         │
│ scripted (spare)                        │
│ agent: clerk (clerk.yaml)               │
│ tools: calculator, clock                │
│ tool: refund (needs approval)           │
│ prompt: prompts/x.md                    │
│ guard: before_tool: stop when true (b)  │
│ guard: after_step: stop when true       │
└─────────────────────────────────────────┘
  │
  ▼
  end
`
	if d := cmp.Diff(want, diagram.Draw(program(), nil).Text("demo", graph.TextOptions{})); d != "" {
		t.Error(d)
	}
}

package node_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/builtins/node"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// promptProgram returns a program with every role and its default prompts.
func promptProgram(t *testing.T, format string) *engine.Program {
	t.Helper()
	p := perProgram(t)
	c := node.Planner.Config().(*node.PlannerConfig)
	c.LLM.Name, c.PlanFormat = "main", format
	c.PlannerPrompt, c.PlannerPromptTemplate = compiledPrompt(c.PlannerPrompt), compiledPrompt(c.PlannerPromptTemplate)
	c.PlannerWithHistoryTemplate = compiledPrompt(c.PlannerWithHistoryTemplate)
	f := node.Finalizer.Config().(*node.FinalizerConfig)
	f.LLM.Name, f.FinalizerPromptTemplate = "main", compiledPrompt(f.FinalizerPromptTemplate)
	for id, make := range map[string]func() (engine.Node, error){
		"planner":   func() (engine.Node, error) { return node.Planner.Build(c, engine.NodeSettings{ID: "planner"}) },
		"finalizer": func() (engine.Node, error) { return node.Finalizer.Build(f, engine.NodeSettings{ID: "finalizer"}) },
	} {
		n, err := make()
		if err != nil {
			t.Fatal(err)
		}
		p.Nodes[id] = n
	}
	p.Graph.Nodes = append(p.Graph.Nodes, graph.Node{ID: "finalizer", Type: "finalizer"})
	return p
}

// midway returns a run after two of four steps.
func midway(p *engine.Program) engine.View {
	res := &engine.Result{
		Plan: plan.Plan{Version: 1, Steps: []plan.Step{
			{ID: "s1", Goal: "Count the rows of orders.csv"},
			{ID: "s2", Goal: "List the rows whose total is negative"},
			{ID: "s3", Goal: "Find who entered them", Tools: []string{"add"}, Success: "every row has a name", Context: "ask the audit log"},
			{ID: "s4", Goal: "Report"},
		}},
		Steps: []plan.StepRecord{
			{ID: "s1", Goal: "Count the rows of orders.csv", Status: plan.OK, Result: "1204 rows", Attempts: 1},
			{ID: "s2", Goal: "List the rows whose total is negative", Status: plan.Failed, Error: "orders.csv: permission denied", Attempts: 2},
		},
	}
	in := engine.Input{Parameters: map[string]any{"question": "Which orders are wrong?"}}
	v := engine.ViewOf(p, in, res, nil, time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC))
	v.Tools = []tool.Info{addTool{}.Info()}
	return v
}

// longRun returns a run after 12 of the given number of steps.
func longRun(p *engine.Program, steps int) engine.View {
	res := &engine.Result{Plan: plan.Plan{Version: 1}}
	for i := 1; i <= steps; i++ {
		id, goal := fmt.Sprintf("s%d", i), fmt.Sprintf("Check file %d", i)
		res.Plan.Steps = append(res.Plan.Steps, plan.Step{ID: id, Goal: goal})
		rec := plan.StepRecord{ID: id, Goal: goal, Status: plan.OK, Attempts: 1, Result: fmt.Sprintf("file %d has %d rows", i, 10*i)}
		if i == 4 {
			rec.Status, rec.Result, rec.Error = plan.Failed, "", "file 4: permission denied"
		}
		if i <= 12 {
			res.Steps = append(res.Steps, rec)
		}
	}
	v := engine.ViewOf(p, engine.Input{Parameters: map[string]any{"question": "Which files are too long?"}}, res, nil, time.Time{})
	v.Tools = []tool.Info{addTool{}.Info()}
	v.State.EndedSinceReview = []string{"s12"}
	return v
}

func markdown(messages []model.Message) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "## %s\n\n%s\n\n", m.Role, strings.TrimRight(m.Text.String(), "\n"))
	}
	return b.String()
}

// TestDefaultPromptsMatchGoldenFiles makes every change of a default prompt visible in
// review.
func TestDefaultPromptsMatchGoldenFiles(t *testing.T) {
	for _, format := range []string{"list", "steps", "dag"} {
		p := promptProgram(t, format)
		start := engine.ViewOf(p, engine.Input{Parameters: map[string]any{"question": "Which orders are wrong?"}}, &engine.Result{}, nil, time.Time{})
		start.Tools = []tool.Info{addTool{}.Info()}
		goldentest.File(t, "prompt/planner_"+format+".md", markdown(p.Nodes["planner"].(engine.Prompter).Prompt(start)))
	}
	p := promptProgram(t, "list")
	again := midway(p)
	again.State.Plan, again.State.Steps = plan.Plan{}, nil
	again.State.History = []memory.Interaction{{Question: "How many orders are there?", Answer: "1204.", Status: stop.RunCompleted}}
	dated, stopped, shaped := midway(promptProgram(t, "list")), midway(p), midway(promptProgram(t, "steps"))
	dated.Program.Datetime = "%Y-%m-%d %H:%M UTC"
	stopped.Stop = &stop.Reason{Code: stop.MaxSteps, Message: "2 steps were executed", Path: "limits.max_steps"}
	schema := component.SchemaRef{JSON: json.RawMessage(`{"type":"object","properties":{"wrong":{"type":"integer"}},"required":["wrong"]}`)}
	shaped.Program.Output = &engine.Output{Schema: schema}
	last := midway(p)
	last.Program.Limits.MaxSteps = 2
	for name, c := range map[string]struct {
		node string
		v    engine.View
	}{
		"planner_with_history": {"planner", again},
		"planner_with_schema":  {"planner", shaped},
		"reflector":            {"reflector", midway(promptProgram(t, "list"))},
		"reflector_last":       {"reflector", last},
		"executor":             {"executor", midway(p)},
		"executor_datetime":    {"executor", dated},
		"reflector_long":       {"reflector", longRun(promptProgram(t, "list"), 15)},
		"reflector_long_end":   {"reflector", longRun(promptProgram(t, "list"), 12)},
		"finalizer":            {"finalizer", midway(p)},
		"finalizer_stopped":    {"finalizer", stopped},
	} {
		t.Run(name, func(t *testing.T) {
			goldentest.File(t, "prompt/"+name+".md", markdown(c.v.Program.Nodes[c.node].(engine.Prompter).Prompt(c.v)))
		})
	}
}

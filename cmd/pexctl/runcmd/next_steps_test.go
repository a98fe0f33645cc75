package runcmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/builtins/node"
	builtin "github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/providers/openai"
	"github.com/pexctl/pex/providers/scripted"
)

// components are the components that the specs of these tests name.
var components = engine.Catalog{
	Models: component.Set[model.Settings, model.Model]{openai.OpenAI, scripted.Scripted},
	Tools:  component.Set[tool.Settings, tool.Tool]{builtin.Clock},
	Nodes:  node.All(),
}

const hinted = `apiVersion: pex/v1
kind: Agent
metadata: {name: hinted}
llms:
  main: {provider: scripted}
  live: {provider: openai, model: some-model}
planner: {llm: main}
limits: {max_duration: 90s}
`

func TestNextStepsFitTheOutcome(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spec.yaml")
	if err := os.WriteFile(path, []byte(hinted), 0o600); err != nil {
		t.Fatal(err)
	}
	p, spec, found := dsl.Compile(path, dsl.Options{Catalog: components})
	if found.Failed() {
		t.Fatal(found)
	}
	by := func(name string) engine.Usage {
		return engine.Usage{ByModel: map[string]engine.ModelUsage{name: {}}}
	}
	const prompt, graph = "See a prompt:  pexctl render 'my spec.yaml' --node reflector", "See the graph: pexctl graph 'my spec.yaml'"
	cases := []struct {
		name string
		res  engine.Result
		want []string
	}{
		{"answered by a script", engine.Result{Status: stop.RunCompleted, Usage: by("main")}, []string{
			"The model's replies are scripted. With a real model: pexctl run 'my spec.yaml' --set planner.llm=live", prompt, graph,
		}},
		{"answered by a model", engine.Result{Status: stop.RunCompleted, Usage: by("live")}, []string{prompt, graph}},
		{"a limit that has a default", engine.Result{RunID: "r", Status: stop.RunStopped, StopReason: stop.Reason{Code: stop.MaxSteps, Path: "limits.max_steps"}}, []string{
			"Resume with a higher limit: pexctl resume r --home h --set limits.max_steps=40",
		}},
		{"a limit in time", engine.Result{RunID: "r", Status: stop.RunStopped, StopReason: stop.Reason{Code: stop.Deadline, Path: "limits.max_duration"}}, []string{
			"Resume with a higher limit: pexctl resume r --home h --set limits.max_duration=3m0s",
		}},
		{"a guard", engine.Result{Status: stop.RunStopped, StopReason: stop.Reason{Code: stop.Guard, Path: "guards[0]"}}, nil},
		{"no provider", engine.Result{Status: stop.RunFailed, StopReason: stop.Reason{Code: stop.ProviderError, Message: "node planner: llm live: auth"}}, []string{
			"Test the LLM: pexctl models ping 'my spec.yaml' --llm live",
			"Use another LLM: pexctl run 'my spec.yaml' --set planner.llm=main",
		}},
		{"a provider that fails in the middle", engine.Result{RunID: "r", Status: stop.RunFailed, Steps: []plan.StepRecord{{}}, StopReason: stop.Reason{Code: stop.ProviderError, Message: "node reflector: llm live: network"}}, []string{
			"Test the LLM: pexctl models ping 'my spec.yaml' --llm live",
			"Continue from the failed call: pexctl runs fork r --home h",
		}},
		{"a script without a reply", engine.Result{RunID: "r", Status: stop.RunFailed, StopReason: stop.Reason{Code: stop.ProviderError, Message: "node planner: llm main: no reply"}}, []string{
			"Use another LLM: pexctl run 'my spec.yaml' --set planner.llm=live",
		}},
		{"no plan", engine.Result{RunID: "r", Status: stop.RunFailed, StopReason: stop.Reason{Code: stop.PlannerInvalid}}, []string{
			"See the prompts and replies: pexctl runs show r --conversation --home h",
		}},
		{"a person is waited for", engine.Result{Status: stop.RunInterrupted}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, nextSteps("my spec.yaml", " --home h", spec, p, &c.res)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

const unprompted = `apiVersion: pex/v1
kind: Agent
metadata: {name: unprompted}
llms: {main: {provider: scripted}}
tools: {clock: {}}
executor: {agent: "#hand"}
agents:
  hand: {metadata: {name: hand}}
graph:
  nodes: [{id: now, type: tool, tool: clock}, {id: carry, type: executor}]
  edges: [{from: now, to: carry}]
`

// No node of this graph calls a model itself, so there is nothing to render.
func TestNextStepsRenderWhatHasAPrompt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spec.yaml")
	if err := os.WriteFile(path, []byte(unprompted), 0o600); err != nil {
		t.Fatal(err)
	}
	p, spec, found := dsl.Compile(path, dsl.Options{Catalog: components})
	if found.Failed() {
		t.Fatal(found)
	}
	done := engine.Result{Status: stop.RunCompleted, Usage: engine.Usage{ByModel: map[string]engine.ModelUsage{"other": {}}}}
	if diff := cmp.Diff([]string{"See the graph: pexctl graph s.yaml"}, nextSteps("s.yaml", "", spec, p, &done)); diff != "" {
		t.Error(diff)
	}
}

package dsl_test

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
)

// The catalog of these tests: Configs like real ones, with every tag and
// reference type that the decoder supports.

type replyConfig struct {
	Role       string             `yaml:"role" enum:"planner|executor|reflector|finalizer|judge" doc:"Who asks."`
	When       component.GuardRef `yaml:"when" env:"role string, call int, step string, prompt string" doc:"Condition."`
	Text       string             `yaml:"text" doc:"What it says."`
	ToolCalls  []toolCallConfig   `yaml:"tool_calls" doc:"Calls."`
	StopReason string             `yaml:"stop_reason" doc:"Why it stops."`
	Usage      *usageConfig       `yaml:"usage" doc:"Tokens."`
	Delay      time.Duration      `yaml:"delay" min:"0s" doc:"How long it takes."`
	Error      *failureConfig     `yaml:"error" doc:"What fails."`
	Times      *int               `yaml:"times" min:"0" doc:"How often."`
}

type failureConfig struct {
	Status  int    `yaml:"status" min:"0" max:"599" doc:"HTTP status."`
	Message string `yaml:"message" doc:"What the server says."`
}

type toolCallConfig struct {
	Name      string `yaml:"name" required:"true" doc:"The tool."`
	Arguments any    `yaml:"arguments" doc:"Its arguments."`
}

type usageConfig struct {
	InputTokens  int `yaml:"input_tokens" doc:"In."`
	OutputTokens int `yaml:"output_tokens" doc:"Out."`
}

type scriptedConfig struct {
	Replies []replyConfig `yaml:"replies" doc:"The replies."`
	File    string        `yaml:"file" file:"replies" doc:"A file of replies."`
}

func (*scriptedConfig) AnswersOffline() {}

type openaiConfig struct {
	ReasoningEffort string                        `yaml:"reasoning_effort" enum:"low|medium|high" doc:"How much it thinks."`
	Headers         map[string]component.Template `yaml:"headers" vars:"env" doc:"Headers."`
	ExtraBody       map[string]any                `yaml:"extra_body" doc:"More."`
}

type plannerConfig struct {
	LLM           component.ModelRef  `yaml:"llm" doc:"The llm."`
	SystemPrompt  component.PromptRef `yaml:"system_prompt" vars:"parameters,@system" doc:"Who it is."`
	PlannerPrompt component.PromptRef `yaml:"planner_prompt" vars:"parameters,@system" doc:"What it does."`
	Template      component.PromptRef `yaml:"planner_prompt_template" vars:"parameters,@planner" doc:"The user prompt."`
	WithHistory   component.PromptRef `yaml:"planner_with_history_template" vars:"parameters,@planner_with_history" doc:"The user prompt behind earlier turns."`
	PlanFormat    string              `yaml:"plan_format" enum:"list|steps|dag" doc:"What a plan is."`
	Repair        repairConfig        `yaml:"repair" doc:"Repairs."`
	Approval      component.GuardRef  `yaml:"approval" words:"never|always" env:"@plan_approval" doc:"Who approves."`
}

type repairConfig struct {
	MaxAttempts int `yaml:"max_attempts" min:"0" max:"10" doc:"How often."`
}

type executorConfig struct {
	LLM              component.ModelRef  `yaml:"llm" doc:"The llm."`
	Agent            component.AgentRef  `yaml:"agent" doc:"Another spec."`
	SystemPrompt     component.PromptRef `yaml:"executor_system_prompt" vars:"parameters,@system" doc:"Who it is."`
	Tools            []string            `yaml:"tools" doc:"The tools."`
	ExcludeTools     []string            `yaml:"exclude_tools" doc:"Not these."`
	Mode             string              `yaml:"mode" enum:"function_calling|react_text|guided" doc:"How it calls tools."`
	MaxParallelSteps int                 `yaml:"max_parallel_steps" min:"1" max:"64" doc:"Side by side."`
	StepTimeout      time.Duration       `yaml:"step_timeout" min:"0s" doc:"Time of a step."`
	Verify           component.GuardRef  `yaml:"verify" words:"none|judge" env:"@verify" doc:"The check."`
}

type reflectorConfig struct {
	LLM      component.ModelRef  `yaml:"llm" doc:"The llm."`
	Template component.PromptRef `yaml:"reflect_prompt_template" vars:"parameters,@reflector" doc:"The user prompt."`
	Strategy string              `yaml:"strategy" enum:"per_step|batch|adaptive|none" doc:"When it looks."`
	When     component.GuardRef  `yaml:"when" env:"@reflector_when" doc:"When else."`
	Triggers triggerConfig       `yaml:"triggers" doc:"What makes it look."`
}

type triggerConfig struct {
	StepFailed bool     `yaml:"step_failed" doc:"A failed step."`
	Keywords   []string `yaml:"keywords" doc:"Words."`
}

func (c reflectorConfig) DefaultGraph() engine.GraphSpec {
	edge := func(from, to, when string) engine.EdgeSpec {
		return engine.EdgeSpec{From: from, To: to, When: component.GuardRef{Source: when}}
	}
	w := engine.GraphSpec{Batch: engine.AllSteps, Edges: []engine.EdgeSpec{
		edge("planner", "end", `reply.result != ""`), edge("planner", "executor", ""),
	}}
	switch c.Strategy {
	case "none":
		w.Edges = append(w.Edges, edge("executor", "finalizer", ""), edge("finalizer", "end", ""))
		return w
	case "per_step":
		w.Batch = engine.OneStep
		w.Edges = append(w.Edges, edge("executor", "reflector", ""))
	case "batch":
		w.Edges = append(w.Edges, edge("executor", "reflector", ""))
	case "adaptive":
		w.Batch = engine.ReadySteps
		w.Edges = append(w.Edges, edge("executor", "reflector", `len(plan.remaining) == 0`))
		if !c.When.IsZero() {
			w.Edges = append(w.Edges, engine.EdgeSpec{From: "executor", To: "reflector", When: c.When, PerEndedStep: true})
		}
		w.Nodes = append(w.Nodes, engine.NodeSpec{ID: "viability", Type: "router", Config: &routerConfig{LLM: c.LLM, Prompt: component.Inline("${parameters.question}")}})
		w.Edges = append(w.Edges, edge("executor", "viability", ""), edge("viability", "reflector", `reply.text == "replan"`), edge("viability", "executor", ""))
	}
	w.Edges = append(w.Edges, edge("reflector", "end", `reply.result != ""`), edge("reflector", "executor", ""))
	return w
}

type finalizerConfig struct {
	LLM           component.ModelRef  `yaml:"llm" doc:"The llm."`
	Template      component.PromptRef `yaml:"finalizer_prompt_template" vars:"parameters,@finalizer" doc:"The user prompt."`
	ReserveTokens int                 `yaml:"reserve_tokens" min:"0" doc:"Kept for it."`
}

type routerConfig struct {
	LLM    component.ModelRef  `yaml:"llm" doc:"The llm."`
	Prompt component.PromptRef `yaml:"prompt" vars:"parameters,steps,@node" doc:"What it chooses."`
}

type toolNodeConfig struct {
	Tool string                        `yaml:"tool" required:"true" doc:"The tool."`
	Args map[string]component.Template `yaml:"args" vars:"parameters,steps,@node" doc:"Its arguments."`
}

// fakeNode records what it was built from.
type fakeNode struct {
	config   any
	settings engine.NodeSettings
}

func (fakeNode) Run(engine.Scope) error { return nil }

// Prompt renders the template for plans with history, if there is one.
func (n fakeNode) Prompt(v engine.View) []model.Message {
	c, ok := n.config.(*plannerConfig)
	if !ok || len(v.State.History) == 0 {
		return nil
	}
	return []model.Message{{Text: c.WithHistory.Render(func(_, name string) (any, bool) {
		if name == "chat_history" || name == "completed_steps" {
			return v.State.History[0].Answer, true
		}
		return "", true
	})}}
}

// Nodes of the roles.
type (
	plannerNode   struct{ fakeNode }
	executorNode  struct{ fakeNode }
	reflectorNode struct{ fakeNode }
	finalizerNode struct{ fakeNode }
)

func (n plannerNode) PlanRules() engine.PlanRules {
	return engine.PlanRules{Format: n.config.(*plannerConfig).PlanFormat}
}

func (executorNode) StepTools(v engine.View) []tool.Info { return v.Tools }

func (reflectorNode) ReviewPrompt() component.PromptRef { return component.PromptRef{} }

func (finalizerNode) FinalizeAnswer(engine.Scope, string) error { return nil }

func (c finalizerConfig) ReservedTokens() int { return c.ReserveTokens }

// built returns the node of any role.
func (n fakeNode) built() fakeNode { return n }

func (n fakeNode) ofRole() engine.Node {
	switch n.config.(type) {
	case *plannerConfig:
		return plannerNode{n}
	case *executorConfig:
		return executorNode{n}
	case *reflectorConfig:
		return reflectorNode{n}
	case *finalizerConfig:
		return finalizerNode{n}
	}
	return n
}

// mute is a node without a prompt.
type mute struct{ fakeNode fakeNode }

func (mute) Run(engine.Scope) error { return nil }

func node[C any](typ string, defaults C) component.Factory[engine.NodeSettings, engine.Node] {
	return component.New(typ, "A "+typ+".", func() C { return defaults },
		func(c *C, s engine.NodeSettings) (engine.Node, error) { return fakeNode{c, s}.ofRole(), nil })
}

// callerNode calls tools.
type callerNode struct{ mute }

func (callerNode) Tools(engine.View) []tool.Info { return nil }

func (callerNode) CallsTools() {}

func silent[C any](typ string, defaults C) component.Factory[engine.NodeSettings, engine.Node] {
	return component.New(typ, "A "+typ+".", func() C { return defaults },
		func(c *C, s engine.NodeSettings) (engine.Node, error) {
			n := mute{fakeNode{c, s}}
			if _, calls := any(c).(*toolNodeConfig); calls {
				return callerNode{n}, nil
			}
			return n, nil
		})
}

type noConfig struct{}

type fileToolConfig struct {
	Root string `yaml:"root" path:"relative" doc:"The folder."`
}

type commandConfig struct {
	Argv        []component.Template          `yaml:"argv" path:"program" required:"true" min:"1" vars:"args,parameters,env" doc:"Program and arguments."`
	Env         map[string]component.Template `yaml:"env" vars:"env,parameters" doc:"Its environment."`
	Stdin       component.Template            `yaml:"stdin" vars:"args,parameters" doc:"Its input."`
	InputSchema component.SchemaRef           `yaml:"input_schema" doc:"Its arguments."`
}

type httpConfig struct {
	URL            component.Template            `yaml:"url" required:"true" vars:"args,parameters,env" doc:"Where."`
	Headers        map[string]component.Template `yaml:"headers" vars:"env,parameters" doc:"Headers."`
	ResponseFilter component.FilterRef           `yaml:"response_filter" doc:"What of it."`
}

type agentToolConfig struct {
	Ref component.AgentRef `yaml:"ref" required:"true" doc:"The spec."`
}

type fakeTool struct {
	info   tool.Info
	config any
}

func (t fakeTool) Info() tool.Info { return t.info }

func (fakeTool) Call(context.Context, *tool.Call) (*tool.Output, error) {
	return nil, errors.New("not called")
}

// inputs maps a tool of these tests to its input schema.
var inputs = map[string]string{
	"clock":     `{"type":"object","properties":{"timezone":{"type":"string"}},"additionalProperties":false}`,
	"read_file": `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`,
}

func fake[C any](typ string, effect tool.Effect) component.Factory[tool.Settings, tool.Tool] {
	return component.New(typ, "A "+typ+".", func() C { var c C; return c },
		func(c *C, s tool.Settings) (tool.Tool, error) {
			if f, ok := any(c).(*fileToolConfig); ok && f.Root == "/" {
				return nil, errors.New("the root / is outside of the project")
			}
			return fakeTool{tool.Info{Name: s.Name, Effect: effect, Input: json.RawMessage(inputs[typ])}, c}, nil
		})
}

func provider[C any](typ string) component.Factory[model.Settings, model.Model] {
	return component.New(typ, "The provider "+typ+".", func() C { var c C; return c },
		func(*C, model.Settings) (model.Model, error) { return nil, errors.New("not built") })
}

var catalog = engine.Catalog{
	Models: component.Set[model.Settings, model.Model]{
		provider[scriptedConfig]("scripted"), provider[openaiConfig]("openai"),
	},
	Tools: component.Set[tool.Settings, tool.Tool]{
		fake[noConfig]("clock", tool.ReadEffect), fake[noConfig]("calculator", tool.ReadEffect),
		fake[fileToolConfig]("read_file", tool.ReadEffect), fake[fileToolConfig]("write_file", tool.WriteEffect),
		fake[fileToolConfig]("search_files", tool.ReadEffect), fake[commandConfig]("command", ""),
		fake[httpConfig]("http", ""), fake[agentToolConfig]("agent", tool.ReadEffect), servers, notes,
	},
	Nodes: component.Set[engine.NodeSettings, engine.Node]{
		node("planner", plannerConfig{
			PlannerPrompt: component.Inline("Plan."), PlanFormat: "list", Repair: repairConfig{MaxAttempts: 2},
			Template: component.Inline("${parameters.planner_prompt} ${parameters.question}"),
		}),
		node("executor", executorConfig{Mode: "function_calling", MaxParallelSteps: 1}),
		node("reflector", reflectorConfig{
			Strategy: "per_step", Triggers: triggerConfig{StepFailed: true},
			Template: component.Inline("${parameters.completed_steps}"),
		}),
		node("finalizer", finalizerConfig{Template: component.Inline("${parameters.steps}")}),
		node("router", routerConfig{}), silent("tool", toolNodeConfig{}), silent("agent", agentNodeConfig{}),
	},
}

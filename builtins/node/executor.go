package node

import (
	"errors"
	"time"

	"github.com/pexctl/pex/builtins/node/planning"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
)

// ExecutorConfig is `executor:`.
type ExecutorConfig struct {
	LLM                  component.ModelRef  `yaml:"llm" doc:"The llm that executes steps; the planner's by default."`
	Agent                component.AgentRef  `yaml:"agent" doc:"Another spec that executes the steps instead."`
	ExecutorSystemPrompt component.PromptRef `yaml:"executor_system_prompt" vars:"parameters,@system" doc:"Who the executor is. Replaces the default and the llm's own."`
	Tools                []string            `yaml:"tools" doc:"The tools steps can use, by name or glob; all by default, none by []."`
	ExcludeTools         []string            `yaml:"exclude_tools" doc:"Tools left out, by name or glob."`
	Mode                 string              `yaml:"mode" enum:"function_calling|react_text|guided" doc:"How a step calls tools: by the provider's tool API, by text, or its first tool directly."`
	MaxParallelSteps     int                 `yaml:"max_parallel_steps" min:"1" max:"64" doc:"How many steps of a dag plan run side by side."`
	ParallelToolCalls    bool                `yaml:"parallel_tool_calls" doc:"Whether the tool calls of one turn run side by side."`
	StepTimeout          time.Duration       `yaml:"step_timeout" over:"0s" doc:"Active time one step may take."`
	StepAttempts         int                 `yaml:"step_attempts" min:"1" max:"20" doc:"How often a failed step is tried; one that wrote is not tried again."`
	OnStepError          string              `yaml:"on_step_error" enum:"reflect|continue|fail" doc:"What a failed step leads to: the reflector, the steps that do not depend on it, or the end of the run as soon as the steps that run beside it have ended."`
	Verify               component.GuardRef  `yaml:"verify" words:"none|judge" env:"@verify" doc:"Whether a step did what it was to do: none, judge (a model checks its success criterion), or an expression."`
}

// The modes and error policies.
const (
	functionCalling = "function_calling"
	reactText       = "react_text"
	guided          = "guided"
	onReflect       = "reflect"
	onContinue      = "continue"
	onFail          = "fail"
)

// Executor runs steps of the plan.
var Executor = component.New("executor", "Runs the plan's steps with tools. In a graph without a planner the question is the one step.",
	func() ExecutorConfig {
		return ExecutorConfig{
			Mode: functionCalling, MaxParallelSteps: 1, ParallelToolCalls: true, StepAttempts: 1,
			OnStepError: onReflect, Verify: component.GuardRef{Source: "none"},
		}
	},
	func(c *ExecutorConfig, s engine.NodeSettings) (engine.Node, error) {
		return &executor{cfg: c, id: s.ID, take: s.Take}, nil
	})

type executor struct {
	cfg  *ExecutorConfig
	id   string
	take engine.BatchSize
}

var (
	_ engine.Node       = (*executor)(nil)
	_ engine.Prompter   = (*executor)(nil)
	_ engine.Requester  = (*executor)(nil)
	_ engine.StepRunner = (*executor)(nil)
)

// Run runs as much of the plan as one visit takes: one step, a round of those
// that are ready, or all that remain.
func (x *executor) Run(s engine.Scope) error {
	alone := x.standalone(s.View())
	if alone {
		x.planQuestion(s)
	}
	for {
		if err := x.visit(s); !errors.Is(err, errRaised) {
			if alone && err == nil {
				x.replyWithResult(s)
			}
			return err
		}
	}
}

func (x *executor) visit(s engine.Scope) error {
	v := s.View()
	if !v.State.AnyOpen() {
		return nil
	}
	if v.State.Executed >= v.Program.Limits.MaxSteps {
		if err := x.outOfSteps(s); err != nil {
			return err
		}
		return engine.ErrReplan // the reflector's last turn
	}
	b := &batchRun{x: x, format: rulesOf(v, x.id).Format, started: map[string]bool{}, quota: planning.MaxSteps}
	switch x.take {
	case engine.AllSteps: // the whole plan
	case engine.OneStep:
		b.quota = 1
	case engine.ReadySteps:
		b.quota = min(b.ready(s), x.cfg.MaxParallelSteps)
	}
	return b.run(s, min(x.cfg.MaxParallelSteps, b.quota))
}

// errRaised says that the limit that cut a visit short was raised meanwhile.
var errRaised = errors.New("the limit was raised")

// outOfSteps is the limit that keeps steps of the plan from running where no
// reflector has a last turn, or nil.
func (x *executor) outOfSteps(s engine.Scope) error {
	cut := func(engine.Limits) bool {
		v := s.View()
		return v.State.Executed >= v.Program.Limits.MaxSteps && v.State.AnyOpen() &&
			!engine.NodeIs[engine.PlanReviewer](v.Program, v.Program.Replanner(x.id, v.State.Planner))
	}
	switch {
	case !cut(engine.Limits{}):
		return nil
	case s.Exceeded(cut):
		return stop.AtLimit(stop.MaxSteps, "limits.max_steps", "%d steps were executed", s.View().State.Executed)
	}
	return errRaised
}

// Prompt is what the executor would send for the next step.
func (x *executor) Prompt(v engine.View) []model.Message { return x.Call(v).Messages }

// Call is what the executor would ask for the next step: nothing where another
// spec carries it out.
func (x *executor) Call(v engine.View) model.Call {
	if !x.cfg.Agent.IsZero() {
		return model.Call{Role: "executor"}
	}
	st := plan.Step{ID: "s1", Goal: "(the step's goal)"}
	if remaining := v.State.Remaining(); len(remaining) > 0 {
		st = remaining[0]
		if f, err := planning.Fill(v, st); err == nil {
			st = f
		}
	}
	c := model.Call{Role: "executor", LLM: x.cfg.LLM.Name, StepID: st.ID, Step: st.Goal, PerStep: true, Parallel: x.cfg.ParallelToolCalls}
	var p protocol = &native{}
	if x.cfg.Mode == reactText {
		p = &textual{}
	}
	c.Messages, c.Tools = p.open(x.opening(v, st), x.StepTools(v))
	return c
}

// StepTools implements engine.StepRunner.
func (x *executor) StepTools(v engine.View) []tool.Info {
	if x.cfg.Tools == nil && len(x.cfg.ExcludeTools) == 0 {
		return v.Tools
	}
	var out []tool.Info
	for _, t := range v.Tools {
		if x.sees(t.Name) {
			out = append(out, t)
		}
	}
	return out
}

// sees says whether steps can use a tool of a name.
func (x *executor) sees(tool string) bool {
	return (x.cfg.Tools == nil || text.MatchAny(x.cfg.Tools, tool)) && !text.MatchAny(x.cfg.ExcludeTools, tool)
}

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

// ExecutorConfig is the `executor` block of a spec.
type ExecutorConfig struct {
	LLM                  component.ModelRef  `yaml:"llm" doc:"LLM of the executor. Default: the planner's."`
	Agent                component.AgentRef  `yaml:"agent" doc:"Spec that executes the steps instead."`
	ExecutorSystemPrompt component.PromptRef `yaml:"executor_system_prompt" vars:"parameters,@system" doc:"System prompt of the executor. Replaces the default and that of the LLM."`
	Tools                []string            `yaml:"tools" doc:"Tools that steps can use, by name or glob. Default: all; []: none."`
	ExcludeTools         []string            `yaml:"exclude_tools" doc:"Tools to exclude, by name or glob."`
	Mode                 string              `yaml:"mode" enum:"function_calling|react_text|guided" doc:"How steps call tools: function_calling (tool API of the provider), react_text (text protocol) or guided (calls the first tool of the step directly)."`
	MaxParallelSteps     int                 `yaml:"max_parallel_steps" min:"1" max:"64" doc:"Maximum number of parallel steps of a dag plan."`
	ParallelToolCalls    bool                `yaml:"parallel_tool_calls" doc:"Whether tool calls of one reply run in parallel."`
	StepTimeout          time.Duration       `yaml:"step_timeout" over:"0s" doc:"Maximum active time of one step."`
	StepAttempts         int                 `yaml:"step_attempts" min:"1" max:"20" doc:"Maximum attempts per step. A step that made a write call is not retried."`
	OnStepError          string              `yaml:"on_step_error" enum:"reflect|continue|fail" doc:"What happens when a step fails: reflect (the reflector reviews the plan), continue (steps that do not depend on it run) or fail (the run ends after the parallel steps)."`
	Verify               component.GuardRef  `yaml:"verify" words:"none|judge" env:"@verify" doc:"How results are verified: none, judge (a model checks the success criterion), or an expression."`
}

// Values of mode and on_step_error.
const (
	functionCalling = "function_calling"
	reactText       = "react_text"
	guided          = "guided"
	onReflect       = "reflect"
	onContinue      = "continue"
	onFail          = "fail"
)

// Executor runs steps of the plan.
var Executor = component.New("executor", "Runs the steps of the plan with tools. In a graph without a planner, the question is the only step.",
	func() ExecutorConfig {
		return ExecutorConfig{
			Mode: functionCalling, MaxParallelSteps: 1, ParallelToolCalls: true, StepAttempts: 1,
			OnStepError: onReflect, Verify: component.GuardRef{Source: "none"},
		}
	},
	func(c *ExecutorConfig, s engine.NodeSettings) (engine.Node, error) {
		return &executor{cfg: c, id: s.ID, take: s.Batch}, nil
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

	_ engine.FileAttacher = (*executor)(nil)
)

// AttachesFiles implements engine.FileAttacher.
func (x *executor) AttachesFiles() string {
	if !x.cfg.Agent.IsZero() {
		return ""
	}
	return x.cfg.LLM.Name
}

// Run runs one batch of the plan: one step, all ready steps, or all remaining steps.
func (x *executor) Run(s engine.Scope) error {
	standalone := x.standalone(s)
	if standalone {
		x.planQuestion(s)
	}
	for {
		if err := x.visit(s); !errors.Is(err, errLimitRaised) {
			if standalone && err == nil {
				x.replyWithResult(s)
			}
			return err
		}
	}
}

func (x *executor) visit(s engine.Scope) error {
	b, err := x.batch(s)
	if b == nil {
		return err
	}
	return b.run(s, min(x.cfg.MaxParallelSteps, b.quota))
}

// batch returns the steps to run in this visit, nil if there are none.
func (x *executor) batch(s engine.Scope) (*batchRun, error) {
	v := s.View()
	if !v.State.HasOpenSteps() {
		return nil, nil
	}
	if v.State.Executed >= v.Program.Limits.MaxSteps {
		if err := x.outOfSteps(s); err != nil {
			return nil, err
		}
		return nil, engine.ErrReplan // the reflector takes its last turn
	}
	b := &batchRun{x: x, format: rulesOf(&v, x.id).Format, quota: planning.MaxSteps}
	switch x.take {
	case engine.AllSteps: // the whole plan
	case engine.OneStep:
		b.quota = 1
	case engine.ReadySteps:
		b.quota = min(b.ready(s), x.cfg.MaxParallelSteps)
	}
	return b, nil
}

// errLimitRaised reports that the limit that ended a visit has been raised.
var errLimitRaised = errors.New("the limit was raised")

// outOfSteps returns the limit error if max_steps ends the plan and no reflector can take
// a last turn, and nil otherwise.
func (x *executor) outOfSteps(s engine.Scope) error {
	switch {
	case !x.isOutOfSteps(s):
		return nil
	case s.Exceeded(func(engine.Limits) bool { return x.isOutOfSteps(s) }):
		return stop.AtLimit(stop.MaxSteps, "limits.max_steps", "%d steps were executed", s.View().State.Executed)
	}
	return errLimitRaised
}

func (x *executor) isOutOfSteps(s engine.Scope) bool {
	v := s.View()
	return v.State.Executed >= v.Program.Limits.MaxSteps && v.State.HasOpenSteps() &&
		!engine.NodeIs[engine.PlanReviewer](v.Program, v.Program.Replanner(x.id, v.State.Planner))
}

// Prompt returns the messages that the executor would send for the next step.
func (x *executor) Prompt(v engine.View) []model.Message { return x.Call(v).Messages }

// Call returns the call that the executor would make for the next step. It has no
// messages if another spec runs the steps.
func (x *executor) Call(v engine.View) model.Call {
	if !x.cfg.Agent.IsZero() {
		return model.Call{Role: "executor"}
	}
	st := plan.Step{ID: "s1", Goal: "(the step's goal)"}
	if remaining := v.State.Remaining(); len(remaining) > 0 {
		st = remaining[0]
		if f, err := planning.Fill(&v, st); err == nil {
			st = f
		}
	}
	c := model.Call{Role: "executor", LLM: x.cfg.LLM.Name, StepID: st.ID, Step: st.Goal, PerStep: true, Parallel: x.cfg.ParallelToolCalls, Files: true}
	var p protocol = &native{}
	if x.cfg.Mode == reactText {
		p = &textual{}
	}
	c.Messages, c.Tools = p.open(x.opening(&v, st), x.StepTools(v))
	return c
}

// StepTools implements engine.StepRunner.
func (x *executor) StepTools(v engine.View) []tool.Info {
	if x.cfg.Tools == nil && len(x.cfg.ExcludeTools) == 0 {
		return v.Tools
	}
	var out []tool.Info
	for _, t := range v.Tools {
		if x.canUse(t.Name) {
			out = append(out, t)
		}
	}
	return out
}

// canUse reports whether steps can use the tool.
func (x *executor) canUse(tool string) bool {
	return (x.cfg.Tools == nil || text.MatchAny(x.cfg.Tools, tool)) && !text.MatchAny(x.cfg.ExcludeTools, tool)
}

package node

import (
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/stop"
)

// ReflectorConfig is the `reflector` block of a spec.
type ReflectorConfig struct {
	LLM                   component.ModelRef  `yaml:"llm" doc:"LLM of the reflector. Default: the planner's."`
	SystemPrompt          component.PromptRef `yaml:"system_prompt" vars:"parameters,@system" doc:"System prompt of the reflector. Default: the planner's."`
	ReflectPrompt         component.PromptRef `yaml:"reflect_prompt" vars:"parameters,@system" doc:"Instruction of the reflector."`
	ReflectPromptTemplate component.PromptRef `yaml:"reflect_prompt_template" vars:"parameters,@reflector" doc:"User prompt template of a review."`
	Strategy              string              `yaml:"strategy" enum:"per_step|batch|adaptive|none" doc:"When the plan is reviewed: per_step (after each step), batch (after all steps), adaptive (when a trigger fires) or none."`
	When                  component.GuardRef  `yaml:"when" env:"@reflector_when" doc:"adaptive: also review after a step for which this expression is true."`
	Triggers              TriggerConfig       `yaml:"triggers" doc:"adaptive: what triggers a review."`
}

// TriggerConfig is the `reflector.triggers` block.
type TriggerConfig struct {
	StepFailed  bool            `yaml:"step_failed" doc:"A step that did not end ok."`
	EmptyResult bool            `yaml:"empty_result" doc:"A step with an empty result."`
	Keywords    []string        `yaml:"keywords" doc:"Words in a step's result, ignoring case."`
	Viability   ViabilityConfig `yaml:"viability" doc:"A model decides after each step whether the rest of the plan still makes sense."`
}

// ViabilityConfig is the `reflector.triggers.viability` block.
type ViabilityConfig struct {
	Enabled       bool    `yaml:"enabled" doc:"Whether this check is enabled."`
	MinConfidence float64 `yaml:"min_confidence" min:"0" max:"1" doc:"Minimum confidence for a replan."`
}

// Reflector reviews the results and decides which steps remain.
var Reflector = component.New("reflector", "Reviews the results: revises the remaining steps, or answers.",
	func() ReflectorConfig {
		return ReflectorConfig{
			ReflectPrompt:         component.Inline(reflectPrompt),
			ReflectPromptTemplate: component.Inline(reflectTemplate),
			Strategy:              perStep,
			Triggers: TriggerConfig{
				StepFailed: true, EmptyResult: true, Viability: ViabilityConfig{MinConfidence: 0.7},
			},
		}
	},
	func(c *ReflectorConfig, s engine.NodeSettings) (engine.Node, error) { return &reflector{c, s.ID}, nil })

type reflector struct {
	cfg *ReflectorConfig
	id  string
}

var (
	_ engine.Node         = (*reflector)(nil)
	_ engine.Prompter     = (*reflector)(nil)
	_ engine.Requester    = (*reflector)(nil)
	_ engine.PlanReviewer = (*reflector)(nil)
	_ engine.GraphBuilder = ReflectorConfig{}
)

// ReviewPrompt implements engine.PlanReviewer.
func (x *reflector) ReviewPrompt() component.PromptRef { return x.cfg.ReflectPrompt }

// Values of strategy.
const (
	perStep  = "per_step"
	batch    = "batch"
	adaptive = "adaptive"
	never    = "none"
)

// Run requests the remaining steps and adopts them. The last turn of a run must answer.
func (x *reflector) Run(s engine.Scope) error {
	for rejected := 0; ; {
		s := s.Child(s.Nth("reflect"))
		vals, last := x.turn(s, rejected)
		rules, urged := *vals.plan(), vals.v.State.ReplanRequest != ""
		turn := planTurn(vals)
		turn.last = last != nil
		messages, err := renderCompacted(s, vals, partsOf(x.cfg.ReflectPromptTemplate, vals), func() []model.Message { return x.prompt(vals, last != nil) })
		if err != nil {
			return err
		}
		out, err := turn.ask(s, "reflector", x.cfg.LLM.Name, messages)
		if err != nil {
			return err
		}
		s.Record(engine.NodeReplied{By: x.id, Reply: out.reply, LastTurn: last != nil})
		if out.answer == nil && last != nil {
			return last
		}
		again, err := x.take(s, rules, urged, out)
		if err != nil || again == "" {
			return err
		}
		if out.answer != nil {
			if last != nil {
				s.Record(engine.Answered{Answer: *out.answer})
				return nil
			}
			rejected++
		}
		s.Record(engine.ReplanRequested{Message: again})
	}
}

// take adopts the model's reply, after an approval if the spec requires one, and
// evaluates the guards on it. urged reports that a guard requested the new plan. If a
// guard or a reviewer rejects the reply, again is the reason.
func (x *reflector) take(s engine.Scope, rules engine.PlanRules, urged bool, out outcome) (again string, err error) {
	if out.answer != nil {
		return takeAnswer(s, engine.AfterReflect, *out.answer)
	}
	steps, denied, err := review(s, x.id, rules, out.steps)
	if err != nil || denied != "" {
		return denied, err
	}
	s.Record(engine.PlanAccepted{Steps: steps, By: x.id, Replan: urged || x.cfg.Strategy != perStep})
	verdict, err := s.Guards(engine.AfterReflect, nil)
	if err != nil || !verdict.Replan {
		return "", err
	}
	return verdict.Message, nil
}

// turn returns the values of the review and, if this must be the last review, the limit
// that ends the run.
func (x *reflector) turn(s engine.Scope, rejected int) (*values, error) {
	vals := currentValues(s, x.id)
	if x.lastTurn(&vals.v, rejected) == nil {
		return vals, nil
	}
	var last error
	s.Exceeded(func(engine.Limits) bool {
		v := s.View()
		last = x.lastTurn(&v, rejected)
		return last != nil
	})
	return currentValues(s, x.id), last
}

// lastTurn returns the limit that leaves no room for another step, or nil.
func (x *reflector) lastTurn(v *engine.View, rejected int) error {
	l, st := &v.Program.Limits, &v.State
	switch {
	case st.Executed >= l.MaxSteps:
		return stop.AtLimit(stop.MaxSteps, "limits.max_steps", "%d steps were executed", st.Executed)
	case st.Replans+rejected >= l.MaxReplans && (x.cfg.Strategy != perStep || st.ReplanRequest != ""):
		return stop.AtLimit(stop.MaxReplans, "limits.max_replans", "the plan was changed %d times", st.Replans)
	}
	return nil
}

// Prompt returns the messages that the reflector would send now.
func (x *reflector) Prompt(v engine.View) []model.Message {
	return x.prompt(valuesOf(&v, x.id), x.lastTurn(&v, 0) != nil)
}

// Call returns the call that the reflector would make now.
func (x *reflector) Call(v engine.View) model.Call {
	return planCall(v.Program, "reflector", x.cfg.LLM.Name, rulesOf(&v, x.id).Format, x.Prompt(v))
}

func (x *reflector) prompt(vals *values, last bool) []model.Message {
	v := &vals.v
	vals.reviewPrompt, vals.hasReviewPrompt = x.cfg.ReflectPrompt, true
	vals.showHistory(x.cfg.ReflectPromptTemplate)
	vals.uncondensed = last
	own := x.cfg.SystemPrompt
	if own.IsZero() {
		own = vals.plan().SystemPrompt
	}
	user := model.Text(x.cfg.ReflectPromptTemplate.Render(vals.lookup))
	user = vals.withMessages(withFiles(v, user, x.cfg.ReflectPromptTemplate), x.cfg.ReflectPromptTemplate)
	if v.State.ReplanRequest != "" {
		user = append(user, "\n\n", replanText, v.State.ReplanRequest)
	}
	if last {
		user = append(user, "\n\n", lastTurnText)
	}
	return []model.Message{
		{Role: model.System, Text: planningSystem(vals, x.cfg.LLM.Name, own, x.cfg.ReflectPromptTemplate)},
		{Role: model.User, Text: user},
	}
}

// DefaultGraph returns the default graph with the edges of the strategy.
func (c ReflectorConfig) DefaultGraph() engine.GraphSpec {
	answered := component.GuardRef{Source: `reply.result != ""`}
	done := component.GuardRef{Source: `len(plan.remaining) == 0`}
	w := engine.GraphSpec{Batch: engine.AllSteps, Edges: []engine.EdgeSpec{
		{From: "planner", To: engine.End, When: answered},
		{From: "planner", To: "executor"},
	}}
	edge := func(from, to string, when component.GuardRef) {
		w.Edges = append(w.Edges, engine.EdgeSpec{From: from, To: to, When: when})
	}
	always := component.GuardRef{}
	switch c.Strategy {
	case never:
		edge("executor", "finalizer", always)
		edge("finalizer", engine.End, always)
		return w
	case perStep:
		w.Batch = engine.OneStep
		edge("executor", "reflector", always)
	case batch:
		edge("executor", "reflector", always)
	case adaptive:
		w.Batch = engine.ReadySteps
		edge("executor", "reflector", done)
		c.wireTriggers(&w)
	}
	edge("reflector", engine.End, answered)
	edge("reflector", "executor", always)
	return w
}

// wireTriggers adds the edges of the adaptive strategy: a trigger leads to the reflector,
// otherwise the plan continues.
func (c ReflectorConfig) wireTriggers(w *engine.GraphSpec) {
	for _, when := range c.triggers() {
		w.Edges = append(w.Edges, engine.EdgeSpec{From: "executor", To: "reflector", When: when, PerEndedStep: true})
	}
	if !c.Triggers.Viability.Enabled {
		w.Edges = append(w.Edges, engine.EdgeSpec{From: "executor", To: "executor"})
		return
	}
	judge := Router.Config().(*RouterConfig)
	judge.LLM = c.LLM
	judge.Prompt = component.Inline(viabilityPrompt)
	judge.Choices, judge.Default, judge.MinConfidence = []string{"continue", "replan"}, "continue", c.Triggers.Viability.MinConfidence
	w.Nodes = append(w.Nodes, engine.NodeSpec{ID: "viability", Type: "router", Config: judge})
	w.Edges = append(
		w.Edges,
		engine.EdgeSpec{From: "executor", To: "viability"},
		engine.EdgeSpec{From: "viability", To: "reflector", When: component.GuardRef{Source: `reply.text == "replan"`}},
		engine.EdgeSpec{From: "viability", To: "executor"},
	)
}

func (c ReflectorConfig) triggers() []component.GuardRef {
	var out []component.GuardRef
	add := func(source string) { out = append(out, component.GuardRef{Source: source}) }
	if c.Triggers.StepFailed {
		add(`step.status != "ok"`)
	}
	if c.Triggers.EmptyResult {
		add(`trim(step.result) == ""`)
	}
	for _, word := range c.Triggers.Keywords {
		add(fmt.Sprintf("lower(step.result) contains %q", strings.ToLower(word)))
	}
	if !c.When.IsZero() {
		out = append(out, c.When)
	}
	return out
}

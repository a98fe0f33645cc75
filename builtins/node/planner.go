package node

import (
	"errors"
	"slices"

	"github.com/pexctl/pex/builtins/node/planning"
	"github.com/pexctl/pex/builtins/node/render"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
)

// PlannerConfig is the `planner` block of a spec.
type PlannerConfig struct {
	LLM                        component.ModelRef  `yaml:"llm" doc:"LLM of the planner. Default: the only LLM of the spec."`
	SystemPrompt               component.PromptRef `yaml:"system_prompt" vars:"parameters,@system" doc:"System prompt of the planner. Replaces the default and that of the LLM. The response format is appended unless the text contains it."`
	PlannerPrompt              component.PromptRef `yaml:"planner_prompt" vars:"parameters,@system" doc:"Instruction of the planner."`
	PlannerPromptTemplate      component.PromptRef `yaml:"planner_prompt_template" vars:"parameters,@planner" doc:"User prompt template of the first plan."`
	PlannerWithHistoryTemplate component.PromptRef `yaml:"planner_with_history_template" vars:"parameters,@planner_with_history" doc:"User prompt template of the first plan if the conversation has earlier turns."`
	PlanFormat                 string              `yaml:"plan_format" enum:"list|steps|dag" doc:"Format of plans: list (plain texts), steps (with tools and success criteria) or dag (with dependencies)."`
	Repair                     RepairConfig        `yaml:"repair" doc:"How invalid replies are handled."`
	Approval                   component.GuardRef  `yaml:"approval" words:"never|always" env:"@plan_approval" doc:"When a plan needs approval before it runs: never, always, or an expression. The reviewer may edit it."`
	Approvers                  component.GuardRef  `yaml:"approvers" env:"@plan_approvers" doc:"Who may approve a plan: an expression over by (subject, issuer, roles, tenant) and run.by. approval then defaults to always. Default: anyone who may answer."`
	FourEyes                   bool                `yaml:"four_eyes" doc:"Whether someone who neither started nor changed the run must approve a plan. approval then defaults to always."`
}

// RepairConfig is a `repair:` block.
type RepairConfig struct {
	MaxAttempts int `yaml:"max_attempts" min:"0" max:"10" doc:"How often an invalid reply is sent back to the model with the error."`
}

// Planner creates the first plan, or answers right away.
var Planner = component.New("planner", "Creates the plan, or answers right away.",
	func() PlannerConfig {
		return PlannerConfig{
			PlannerPrompt:              component.Inline(plannerPrompt),
			PlannerPromptTemplate:      component.Inline(plannerTemplate),
			PlannerWithHistoryTemplate: component.Inline(plannerHistoryTemplate),
			PlanFormat:                 planning.FormatList, Repair: RepairConfig{MaxAttempts: 2},
		}
	},
	func(c *PlannerConfig, s engine.NodeSettings) (engine.Node, error) { return &planner{c, s.ID}, nil })

type planner struct {
	cfg *PlannerConfig
	id  string
}

var (
	_ engine.Node      = (*planner)(nil)
	_ engine.Prompter  = (*planner)(nil)
	_ engine.Requester = (*planner)(nil)
	_ engine.Planner   = (*planner)(nil)

	_ engine.FileAttacher = (*planner)(nil)
)

// AttachesFiles implements engine.FileAttacher.
func (p *planner) AttachesFiles() string { return p.cfg.LLM.Name }

// PlanRules implements engine.Planner.
func (p *planner) PlanRules() engine.PlanRules { return p.cfg.rules() }

func (c *PlannerConfig) rules() engine.PlanRules {
	r := engine.PlanRules{
		Format: c.PlanFormat, MaxRepairs: c.Repair.MaxAttempts, Approval: c.Approval,
		Approvers: interrupt.Rule{Approvers: c.Approvers, FourEyes: c.FourEyes},
		Prompt:    c.PlannerPrompt, SystemPrompt: c.SystemPrompt,
	}
	if r.Approval.IsZero() && !r.Approvers.IsZero() {
		r.Approval.Source = "always"
	}
	return r
}

// Run requests a plan until it is valid and approved, and then adopts it.
func (p *planner) Run(s engine.Scope) error {
	replanReason, err := replanRequest(s)
	if err != nil {
		return err
	}
	for rejected := 0; ; {
		s := s.Child(s.Nth("plan"))
		x := p.use(currentValues(s, p.id))
		turn, replan := planTurn(x), x.v.State.Plan.Version > 0
		messages, err := renderCompacted(s, x, p.parts(x), func() []model.Message { return p.prompt(x, replanReason) })
		if err != nil {
			return err
		}
		out, err := turn.ask(s, "planner", p.cfg.LLM.Name, messages)
		if err != nil {
			return err
		}
		s.Record(engine.NodeReplied{By: p.id, Reply: out.reply})
		if out.answer != nil {
			replanReason, err = takeAnswer(s, engine.AfterPlan, *out.answer)
			if err != nil || replanReason == "" {
				return err
			}
			rejected++
			if err := replanLimit(s, rejected, replanReason); err != nil {
				return err
			}
			continue
		}
		steps, denied, err := review(s, p.id, p.PlanRules(), out.steps)
		if err != nil {
			return err
		}
		if replanReason = denied; replanReason != "" {
			continue
		}
		s.Record(engine.PlanAccepted{Steps: steps, By: p.id, Planner: p.id, Replan: replan})
		verdict, err := s.Guards(engine.AfterPlan, nil)
		if err != nil || !verdict.Replan {
			return err
		}
		replanReason = verdict.Message
		if err := replanLimit(s, rejected, replanReason); err != nil {
			return err
		}
	}
}

// use makes the values use the planner's own rules.
func (p *planner) use(x *values) *values {
	x.rules, x.hasRules = p.PlanRules(), true
	return x
}

// replanRequest returns a guard's request for a new plan, in a graph without a reflector,
// or the limit that the plan would exceed.
func replanRequest(s engine.Scope) (string, error) {
	reason := s.View().State.ReplanRequest
	return reason, replanLimit(s, 0, reason)
}

// replanLimit returns the limit that a guard's request for a new plan would exceed, or
// nil. Rejected answers count, because each took a turn of the planner.
func replanLimit(s engine.Scope, rejected int, replanReason string) error {
	n := s.View().State.Replans + rejected
	if replanReason == "" || !s.Exceeded(func(l engine.Limits) bool { return n >= l.MaxReplans }) {
		return nil
	}
	return stop.AtLimit(stop.MaxReplans, "limits.max_replans", "a guard requested a new plan after %d replans: %s", n, replanReason)
}

// takeAnswer evaluates the guards of a place on an answer and then adopts it. If a guard
// rejects it, again is the reason. Guards see an empty remaining plan.
func takeAnswer(s engine.Scope, at engine.GuardPlace, a engine.Answer) (again string, err error) {
	v := s.View()
	v.State.Plan.Steps = slices.DeleteFunc(slices.Clone(v.State.Plan.Steps), func(st plan.Step) bool { return !v.State.Done(st.ID) })
	verdict, err := s.Guards(at, v.Env)
	if err == nil && verdict.Replan {
		return verdict.Message, nil
	}
	if end, ok := errors.AsType[*stop.Error](err); !ok || end.Reason.Status != stop.RunFailed {
		s.Record(engine.Answered{Answer: a})
	}
	return "", err
}

// Prompt returns the messages that the planner would send now.
func (p *planner) Prompt(v engine.View) []model.Message {
	return p.prompt(p.use(valuesOf(&v, p.id)), "")
}

// Call returns the call that the planner would make now.
func (p *planner) Call(v engine.View) model.Call {
	return planCall(v.Program, "planner", p.cfg.LLM.Name, p.cfg.PlanFormat, p.Prompt(v))
}

func (p *planner) prompt(x *values, replanReason string) []model.Message {
	v := &x.v
	template := p.template(v)
	x.showHistory(template)
	user := x.withMessages(withSession(v, withFiles(v, model.Text(template.Render(x.lookup)), template)), template)
	if replanReason != "" {
		user = append(user, "\n\n", replanText, replanReason)
	}
	if addsSteps(v, template) {
		user = append(append(user, "\n\nCompleted steps (do not repeat them):\n"), render.Completed(v.State.Steps)...)
	}
	return []model.Message{
		{Role: model.System, Text: planningSystem(x, p.cfg.LLM.Name, p.cfg.SystemPrompt, template)},
		{Role: model.User, Text: user},
	}
}

// template returns the user prompt template, which differs if the conversation has
// earlier turns.
func (p *planner) template(v *engine.View) component.PromptRef {
	if len(v.State.History) > 0 {
		return p.cfg.PlannerWithHistoryTemplate
	}
	return p.cfg.PlannerPromptTemplate
}

// addsSteps reports whether a replan prompt must append the completed steps because its
// template does not show them.
func addsSteps(v *engine.View, template component.PromptRef) bool {
	return v.State.Plan.Version > 0 && len(v.State.Steps) > 0 && !template.Uses("parameters.completed_steps")
}

func (p *planner) parts(x *values) promptParts {
	template := p.template(&x.v)
	out := partsOf(template, x)
	out.steps = out.steps || addsSteps(&x.v, template)
	return out
}

const responseFormatName = "parameters.plan_execute_reflect_response_format"

// planningSystem returns the system prompt of planner and reflector: their role, the
// response format, and the output schema. A prompt of the spec replaces the first and the
// last; the response format is added unless the prompt or the template contains it.
func planningSystem(x *values, llm string, own, template component.PromptRef) model.Text {
	own = systemPrompt(&x.v, llm, own)
	text := append(make(model.Text, 0, 8), plannerSystem)
	if !own.IsZero() {
		text = model.Text(own.Render(x.lookup))
	}
	if !own.Uses(responseFormatName) && !x.uses(template, responseFormatName) {
		text = append(text, "\n", x.responseFormat())
	}
	if own.IsZero() && x.v.Program.Output == nil {
		text = append(text, "\n", finalReport)
	}
	return withDatetime(&x.v, withSchema(&x.v, text, outputSchema))
}

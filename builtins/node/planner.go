package node

import (
	"errors"
	"slices"

	"github.com/pexctl/pex/builtins/node/planning"
	"github.com/pexctl/pex/builtins/node/render"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
)

// PlannerConfig is `planner:`.
type PlannerConfig struct {
	LLM                        component.ModelRef  `yaml:"llm" doc:"LLM of the planner. Default: the only LLM of the spec."`
	SystemPrompt               component.PromptRef `yaml:"system_prompt" vars:"parameters,@system" doc:"System prompt of the planner. Replaces the default and that of the LLM. The response format is appended unless the text contains it."`
	PlannerPrompt              component.PromptRef `yaml:"planner_prompt" vars:"parameters,@system" doc:"Instruction of the planner."`
	PlannerPromptTemplate      component.PromptRef `yaml:"planner_prompt_template" vars:"parameters,@planner" doc:"User prompt template of the first plan."`
	PlannerWithHistoryTemplate component.PromptRef `yaml:"planner_with_history_template" vars:"parameters,@planner_with_history" doc:"User prompt template of the first plan if the conversation has earlier turns."`
	PlanFormat                 string              `yaml:"plan_format" enum:"list|steps|dag" doc:"Format of plans: list (plain texts), steps (with tools and success criteria) or dag (with dependencies)."`
	Repair                     RepairConfig        `yaml:"repair" doc:"How invalid replies are handled."`
	Approval                   component.GuardRef  `yaml:"approval" words:"never|always" env:"@plan_approval" doc:"When a plan needs approval before it runs: never, always, or an expression. The reviewer may edit it."`
}

// RepairConfig is a `repair:` block.
type RepairConfig struct {
	MaxAttempts int `yaml:"max_attempts" min:"0" max:"10" doc:"How often an invalid reply is sent back to the model with the error."`
}

// Planner makes the first plan, or answers at once.
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
)

// PlanRules implements engine.Planner.
func (p *planner) PlanRules() engine.PlanRules { return p.cfg.rules() }

func (c *PlannerConfig) rules() engine.PlanRules {
	return engine.PlanRules{
		Format: c.PlanFormat, MaxRepairs: c.Repair.MaxAttempts, Approval: c.Approval,
		Prompt: c.PlannerPrompt, SystemPrompt: c.SystemPrompt,
	}
}

// Run asks for a plan until it is usable and allowed, and takes it over.
func (p *planner) Run(s engine.Scope) error {
	urge := s.View().State.ReplanRequest // a guard's, in a graph without reflector
	if err := roomToReplan(s, 0, urge); err != nil {
		return err
	}
	for rejected := 0; ; {
		s := s.Child(s.Nth("plan"))
		v := s.View()
		messages, err := compacted(s, v, p.shown(v), func(v engine.View) []model.Message { return p.prompt(v, urge) })
		if err != nil {
			return err
		}
		out, err := planTurn(p.id, p.PlanRules()).ask(s, "planner", p.cfg.LLM.Name, messages)
		if err != nil {
			return err
		}
		s.Record(engine.NodeReplied{By: p.id, Reply: out.reply})
		if out.answer != nil {
			urge, err = takeAnswer(s, engine.AfterPlan, *out.answer)
			if err != nil || urge == "" {
				return err
			}
			rejected++
			if err := roomToReplan(s, rejected, urge); err != nil {
				return err
			}
			continue
		}
		steps, denied, err := review(s, p.id, p.PlanRules(), out.steps)
		if err != nil {
			return err
		}
		if urge = denied; urge != "" {
			continue
		}
		s.Record(engine.PlanTaken{Steps: steps, By: p.id, Planner: p.id, Replan: v.State.Plan.Version > 0})
		verdict, err := s.Guards(engine.AfterPlan, s.View().Env)
		if err != nil || !verdict.Replan {
			return err
		}
		urge = verdict.Message
		if err := roomToReplan(s, rejected, urge); err != nil {
			return err
		}
	}
}

// roomToReplan is the limit that a guard's wish for a new plan runs into, or
// nil. Answers that a guard rejected count: each took a turn of the planner.
func roomToReplan(s engine.Scope, rejected int, urge string) error {
	n := s.View().State.Replans + rejected
	if urge == "" || !s.Exceeded(func(l engine.Limits) bool { return n >= l.MaxReplans }) {
		return nil
	}
	return stop.AtLimit(stop.MaxReplans, "limits.max_replans", "a guard asks for a new plan after %d replans: %s", n, urge)
}

// takeAnswer tries the guards of a place on an answer, then takes it. One that
// a guard wants replaced is not taken: again says why. Guards see a plan of
// which nothing remains: that is what an answer says of it.
func takeAnswer(s engine.Scope, at engine.GuardPlace, a engine.Answer) (again string, err error) {
	v := s.View()
	v.State.Plan.Steps = slices.DeleteFunc(slices.Clone(v.State.Plan.Steps), func(st plan.Step) bool { return !v.State.Done(st.ID) })
	verdict, err := s.Guards(at, v.Env)
	if err == nil && verdict.Replan {
		return verdict.Message, nil
	}
	var end *stop.Error
	if !errors.As(err, &end) || end.Reason.Status != stop.RunFailed {
		s.Record(engine.Answered{Answer: a})
	}
	return "", err
}

// Prompt is what the planner would send now.
func (p *planner) Prompt(v engine.View) []model.Message { return p.prompt(v, "") }

// Call is what the planner would ask now.
func (p *planner) Call(v engine.View) model.Call {
	return planCall(v, "planner", p.cfg.LLM.Name, p.cfg.PlanFormat, p.Prompt(v))
}

func (p *planner) prompt(v engine.View, urge string) []model.Message {
	template := p.template(v)
	x := valuesOf(v, p.id)
	x.rules, x.ruled = p.PlanRules(), true
	x.recall(template)
	user := withSession(v, withFiles(v, model.Text(template.Render(x.lookup)), template))
	if urge != "" {
		user = append(user, "\n\n", urgedText, urge)
	}
	if addsSteps(v, template) {
		user = append(append(user, "\n\nCompleted steps (do not repeat them):\n"), render.Completed(v)...)
	}
	return []model.Message{
		{Role: model.System, Text: planningSystem(v, x, p.cfg.LLM.Name, p.cfg.SystemPrompt, template)},
		{Role: model.User, Text: user},
	}
}

// template is that of the user prompt: another one where the conversation has
// earlier turns.
func (p *planner) template(v engine.View) component.PromptRef {
	if len(v.State.History) > 0 {
		return p.cfg.PlannerWithHistoryTemplate
	}
	return p.cfg.PlannerPromptTemplate
}

// addsSteps says that a prompt for a new plan shows what is done after a
// template that does not.
func addsSteps(v engine.View, template component.PromptRef) bool {
	return v.State.Plan.Version > 0 && len(v.State.Steps) > 0 && !template.Uses("parameters.completed_steps")
}

func (p *planner) shown(v engine.View) shown {
	template := p.template(v)
	out := shownBy(template, v)
	out.steps = out.steps || addsSteps(v, template)
	return out
}

const responseFormatName = "parameters.plan_execute_reflect_response_format"

// planningSystem is the system prompt of planner and reflector: who it is, how
// to answer, what an answer holds. An author's own text replaces the first and
// the last; how to answer is added unless author or template placed it.
func planningSystem(v engine.View, x *values, llm string, own, template component.PromptRef) model.Text {
	own = systemPrompt(v, llm, own)
	text := model.Text{plannerSystem}
	if !own.IsZero() {
		text = model.Text(own.Render(x.lookup))
	}
	if !own.Uses(responseFormatName) && !x.uses(template, responseFormatName) {
		text = append(text, "\n", x.responseFormat())
	}
	if own.IsZero() && v.Program.Output == nil {
		text = append(text, "\n", finalReport)
	}
	return withDatetime(v, withSchema(v, text, outputSchema))
}

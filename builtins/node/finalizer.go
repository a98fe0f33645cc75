package node

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/builtins/node/answer"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/stop"
)

// FinalizerConfig is the `finalizer` block of a spec.
type FinalizerConfig struct {
	LLM                     component.ModelRef  `yaml:"llm" doc:"LLM of the finalizer. Default: the planner's."`
	SystemPrompt            component.PromptRef `yaml:"system_prompt" vars:"parameters,@system" doc:"System prompt of the finalizer."`
	FinalizerPromptTemplate component.PromptRef `yaml:"finalizer_prompt_template" vars:"parameters,@finalizer" doc:"User prompt template."`
	ReserveTokens           int                 `yaml:"reserve_tokens" min:"0" doc:"Tokens of limits.max_tokens reserved for the final answer. 0: 20% of the limit, at most 2000."`
}

// Finalizer writes the answer if the planner did not.
var Finalizer = component.New("finalizer", "Writes the answer from the results of the steps, if the planner or reflector did not.",
	func() FinalizerConfig {
		return FinalizerConfig{FinalizerPromptTemplate: component.Inline(finalizerTemplate)}
	},
	func(c *FinalizerConfig, s engine.NodeSettings) (engine.Node, error) { return &finalizer{c, s.ID}, nil })

// ReservedTokens implements engine.TokenReserver.
func (c FinalizerConfig) ReservedTokens() int { return c.ReserveTokens }

type finalizer struct {
	cfg *FinalizerConfig
	id  string
}

var (
	_ engine.Node      = (*finalizer)(nil)
	_ engine.Prompter  = (*finalizer)(nil)
	_ engine.Requester = (*finalizer)(nil)

	_ engine.TokenReserver = FinalizerConfig{}

	_ engine.FileAttacher = (*finalizer)(nil)
)

// AttachesFiles implements engine.FileAttacher.
func (f *finalizer) AttachesFiles() string { return f.cfg.LLM.Name }

// Run requests the answer, and requests it again with the validation errors while it does
// not match the output schema.
func (f *finalizer) Run(s engine.Scope) error {
	s = s.Child(s.Nth("final"))
	x := currentValues(s, f.id)
	program, left := x.v.Program, 0
	if program.Output != nil {
		left = program.Output.MaxAttempts
	}
	messages, err := renderCompacted(s, x, partsOf(f.cfg.FinalizerPromptTemplate, x), func() []model.Message { return f.prompt(x) })
	if err != nil {
		return err
	}
	have := delivered(len(x.v.State.UserMessages))
	interrupted := 0
	for n := 1; ; n++ {
		messages = have.extend(s, messages)
		call := f.call(program, messages)
		call.Interruptible = x.v.Stop == nil // the reserve of a stopped run is for one call
		r, err := s.Model(attemptPath("model", n), call)
		if isInterrupted(err) {
			interrupted++
			continue
		}
		if err != nil {
			return err
		}
		have.markSeen(s, false)
		reply := model.Message{Role: model.Assistant, Text: model.Text{r.Text}, Reply: r}
		s.Record(engine.MessagesAdded{System: messages[0].Text, Messages: []model.Message{messages[len(messages)-1], reply}})
		if r.Stop == model.Refusal || r.Stop == model.ContentFiltered || r.Stop == model.Guardrail {
			return stop.Fail(stop.Refused, "finalizer", "the model refused (%s): %s", r.Stop, r.Text)
		}
		a, wrong := answer.Accept(s, strings.TrimSpace(r.Text), nil)
		if wrong == "" && a.Text == "" {
			wrong = "the answer is empty"
		}
		if wrong == "" && x.v.Stop == nil && have.lacks(s) {
			messages = append(messages, reply, model.Message{Role: model.User, Text: model.Text{reconsider}})
			continue
		}
		if wrong == "" {
			s.Record(engine.NodeReplied{By: f.id, Reply: exprenv.Reply{Text: r.Text, Result: a.Text}})
			s.Record(engine.Answered{Answer: a})
			return nil
		}
		if out := program.Output; out != nil && !out.Schema.IsZero() && (n-interrupted == 2 || n-interrupted == 1 && left == 0) {
			warnUnenforced(s, "finalizer", f.cfg.LLM.Name)
		}
		if left == 0 {
			return stop.Fail(stop.OutputInvalid, "output.repair.max_attempts", "invalid finalizer answer: %s\nThe answer was:\n%s", wrong, r.Text)
		}
		left--
		s.Record(engine.WarningAdded{Text: "finalizer answer was invalid and was requested again: " + wrong, Repair: engine.FinalizerRetried})
		messages = append(messages, reply, model.Message{
			Role: model.User, Text: model.Text{"Your answer is invalid:\n", wrong, "\nAnswer again."},
		})
	}
}

// Call returns the call that the finalizer would make now.
func (f *finalizer) Call(v engine.View) model.Call { return f.call(v.Program, f.Prompt(v)) }

func (f *finalizer) call(p *engine.Program, messages []model.Message) model.Call {
	c := model.Call{Role: "finalizer", LLM: f.cfg.LLM.Name, Messages: messages, Files: true}
	if out := p.Output; out != nil && !out.Schema.IsZero() {
		c.Schema = &model.ReplySchema{Name: "answer", Schema: out.Schema.Current()}
	}
	return c
}

// Prompt returns the messages that the finalizer would send now.
func (f *finalizer) Prompt(v engine.View) []model.Message { return f.prompt(valuesOf(&v, f.id)) }

func (f *finalizer) prompt(x *values) []model.Message {
	v := &x.v
	x.showHistory(f.cfg.FinalizerPromptTemplate)
	own := systemPrompt(v, f.cfg.LLM.Name, f.cfg.SystemPrompt)
	system := model.Text{finalizerSystem}
	if !own.IsZero() {
		system = model.Text(own.Render(x.lookup))
	}
	user := x.withMessages(model.Text(f.cfg.FinalizerPromptTemplate.Render(x.lookup)), f.cfg.FinalizerPromptTemplate)
	if v.Stop != nil {
		user = append(slices.Clip(user), "\n\n", finalizerStopped, v.Stop.Message, stopHint(v.Stop))
	}
	return []model.Message{
		{Role: model.System, Text: withDatetime(v, withSchema(v, system, answerSchema))},
		{Role: model.User, Text: user},
	}
}

func stopHint(r *stop.Reason) string {
	if r.Path == "" {
		return ""
	}
	return " (" + r.Path + ")"
}

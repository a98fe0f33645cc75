package node

import (
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// AgentConfig is a `type: agent` node.
type AgentConfig struct {
	Agent      component.AgentRef            `yaml:"agent" required:"true" doc:"The spec to run."`
	Question   component.PromptRef           `yaml:"question" vars:"parameters,steps,@node" doc:"Its question; this run's by default."`
	Parameters map[string]component.Template `yaml:"parameters" vars:"parameters,steps,@node" doc:"Its other parameters."`
}

// Agent runs another spec inside this run: same journal, same budget.
var Agent = component.New("agent", "Runs another spec inside this run: same journal, same budget.",
	func() AgentConfig { return AgentConfig{} },
	func(c *AgentConfig, s engine.NodeSettings) (engine.Node, error) { return &agent{c, s.ID}, nil })

type agent struct {
	cfg *AgentConfig
	id  string
}

var _ engine.Node = (*agent)(nil)

// Run runs the other spec; its answer is the node's result.
func (a *agent) Run(s *engine.Scope) error {
	id := visitID(s, a.id)
	s = s.Child(id)
	began := s.Now()
	v := s.View()
	x := newValues(v)
	question := v.State.Question
	if !a.cfg.Question.IsZero() {
		question = strings.Join(a.cfg.Question.Render(x.lookup), "")
	}
	params := map[string]any{"question": question}
	for _, k := range sortedKeys(a.cfg.Parameters) {
		params[k] = typed(a.cfg.Parameters[k].Render(x.lookup))
	}
	rec := started(s, id, question)
	if err := runNested(s, a.cfg.Agent, params, &rec); err != nil {
		return err
	}
	rec.DurationMS = (s.Now() - began).Milliseconds()
	gave(s, a.id, rec)
	return nil
}

// delegate lets another spec execute the step (executor.agent).
func (a *attempt) delegate(s *engine.Scope) error {
	return runNested(s.Child(turnName(1)), a.x.cfg.Agent, map[string]any{"question": a.st.Goal}, &a.rec)
}

// runNested runs another program and books how it ended.
func runNested(s *engine.Scope, ref component.AgentRef, params map[string]any, rec *engine.StepRecord) error {
	program, _ := ref.Program().(*engine.Program)
	res, err := s.Agent("agent", program, params)
	if err != nil {
		return err
	}
	rec.Usage.ModelCalls += res.Usage.ModelCalls
	rec.Usage.Tokens = rec.Usage.Plus(res.Usage.Tokens)
	rec.Result, rec.Status = res.Response, engine.StepOK
	switch res.Status {
	case engine.Completed:
	case engine.Stopped:
		rec.Status, rec.Error = engine.StepLimit, string(res.StopReason.Code)+": "+res.StopReason.Message
	case engine.Cancelled:
		rec.Status, rec.Error = engine.StepCancelled, res.StopReason.Message
	default:
		rec.Status, rec.Error = engine.StepFailed, string(res.StopReason.Code)+": "+res.Error
	}
	return nil
}

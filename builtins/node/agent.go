package node

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
)

// AgentConfig is a `type: agent` node.
type AgentConfig struct {
	Agent      component.AgentRef            `yaml:"agent" required:"true" doc:"The spec to run."`
	Question   component.PromptRef           `yaml:"question" vars:"parameters,steps,@node" doc:"Question for that spec. Default: the question of this run."`
	Parameters map[string]component.Template `yaml:"parameters" vars:"parameters,steps,@node" doc:"Other parameters of that spec."`
	OnError    string                        `yaml:"on_error" enum:"continue|fail" doc:"What happens if that spec gives no answer: continue (next node) or fail (the run ends)."`
}

// Agent runs another spec inside this run, sharing its journal and budget.
var Agent = component.New("agent", "Runs another spec as a sub-agent, with the same journal and budget.",
	func() AgentConfig { return AgentConfig{OnError: onContinue} },
	func(c *AgentConfig, s engine.NodeSettings) (engine.Node, error) { return &agent{c, s.ID}, nil })

type agent struct {
	cfg *AgentConfig
	id  string
}

var _ engine.Node = (*agent)(nil)

// Run runs the agent's program. Its answer becomes the node's result.
func (a *agent) Run(s engine.Scope) error {
	id := visitID(s, a.id)
	s = s.Child(id)
	began := s.Now()
	v := s.View()
	x := valuesOf(&v, a.id)
	question := v.State.Question
	if !a.cfg.Question.IsZero() {
		question = strings.Join(a.cfg.Question.Render(x.lookup), "")
	}
	params := map[string]any{"question": question}
	for _, k := range slices.Sorted(maps.Keys(a.cfg.Parameters)) {
		params[k] = toTyped(a.cfg.Parameters[k].Render(x.lookup), wantsText(a.cfg.Agent, k))
	}
	rec, err := startStep(s, id, question)
	if err != nil {
		return err
	}
	if _, err := runNested(s, a.cfg.Agent, params, &rec); err != nil {
		return recordStopped(s, rec, err)
	}
	rec.DurationMS = (s.Now() - began).Milliseconds()
	recordResult(s, a.id, rec)
	if rec.Status != plan.OK && a.cfg.OnError == onFail {
		return failureError(&rec, "graph.nodes."+a.id+".on_error", "node %s ended %s: %s", a.id, rec.Status, rec.Error)
	}
	return nil
}

// wantsText reports whether the agent's spec declares the parameter as a string.
func wantsText(ref component.AgentRef, name string) bool {
	program, _ := ref.Program().(*engine.Program)
	if program == nil {
		return false
	}
	i := slices.IndexFunc(program.Parameters, func(p engine.Parameter) bool { return p.Name == name })
	var schema struct{ Type any }
	return i >= 0 && json.Unmarshal(program.Parameters[i].Schema, &schema) == nil && schema.Type == "string"
}

// delegate runs the step with another spec (executor.agent).
func (a *attempt) delegate(s engine.Scope) error {
	wrote, err := runNested(s.Child(turnName(1)), a.x.cfg.Agent, map[string]any{"question": a.st.Goal}, &a.rec)
	a.hadEffects = a.hadEffects || wrote
	return err
}

// runNested runs the agent's program and records its outcome in rec. wrote reports
// whether the program may have had side effects.
func runNested(s engine.Scope, ref component.AgentRef, params map[string]any, rec *plan.StepRecord) (wrote bool, err error) {
	program, _ := ref.Program().(*engine.Program)
	res, err := s.Agent("agent", program, params)
	if err != nil {
		return true, err
	}
	rec.Usage.ModelCalls += res.Usage.ModelCalls
	rec.Usage.ToolCalls += res.Usage.ToolCalls
	rec.Usage.Tokens = rec.Usage.Plus(res.Usage.Tokens)
	rec.Usage.LatencyMS += res.Usage.LatencyMS
	rec.Result, rec.Status = res.Response, plan.OK
	switch res.Status {
	case stop.RunCompleted:
	case stop.RunStopped:
		rec.Status, rec.Error = plan.Limit, string(res.StopReason.Code)+": "+res.StopReason.Message
	case stop.RunCancelled:
		rec.Status, rec.Error = plan.Cancelled, res.StopReason.Message
	default:
		rec.Status, rec.Error = plan.Failed, string(res.StopReason.Code)+": "+res.Error
		rec.Failure = res.Failure
	}
	return res.HasWritten, nil
}

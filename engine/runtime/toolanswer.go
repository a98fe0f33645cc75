package runtime

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// askHumans lets humans produce the result of a call, question by question. The tool only
// states the questions. Each question is journaled on its own and the tool performs no
// effect, so the run may wait in any process.
func (c *toolRun) askHumans(a tool.HumanTool) error {
	began := c.s.Now()
	c.attempts = 1
	var answers []interrupt.Decision
	for n := 1; ; n++ {
		q, out, err := a.NextQuestion(c.rec.Args, answers)
		if err == nil && q == nil {
			out, err = c.tool.checkOutput(out)
		}
		if err != nil || q == nil {
			c.rec.DurationMS = engine.Milliseconds(c.s.Now() - began)
			c.recordOutput(out, err)
			return nil
		}
		name := c.name + ".ask"
		if n > 1 {
			name += "." + strconv.Itoa(n)
		}
		q.Tool = c.rec.Tool
		c.s.event(engine.Event{Type: engine.ToolInterrupted, Path: c.name, Tool: q.Tool, Args: c.rec.Args, Step: c.step()})
		d, err := c.s.askAbout(name, q.Restrict(c.tool.rule()), c.asked())
		if err != nil {
			c.rec.Fail(tool.CallError, "canceled before anyone answered")
			if engine.TimedOut(err) {
				c.rec.Status = tool.CallTimedOut
			}
			return err
		}
		answers = append(answers, d)
	}
}

// checkOutput limits an output, which must not be nil.
func (t *BoundTool) checkOutput(out *tool.Output) (*tool.Output, error) {
	if out == nil {
		return nil, errors.New("the tool returned neither a question nor a result")
	}
	return t.limitOutput(out)
}

// recordOutput records the output or failure of the call.
func (c *toolRun) recordOutput(out *tool.Output, err error) {
	if err != nil {
		c.rec.Fail(tool.CallError, tool.Excerpt(journal.AsFailure(err).Message, c.tool.maxOutput()))
		return
	}
	c.rec.Status, c.rec.Result, c.rec.ModelText = tool.CallOK, out.Value(), out.String()
}

// callAgent lets a nested agent produce the result of a call. The agent's tool calls
// count in addition to this one, which occupies no slot while it waits for them.
func (c *toolRun) callAgent(d engine.AgentTool) error {
	s, began := c.s, c.s.Now()
	c.attempts = 1
	params, err := d.Parameters(c.rec.Args, c.inv.Context)
	if err != nil {
		c.rec.Fail(tool.CallError, fmt.Sprintf("invalid arguments for %s: %v", c.rec.Tool, err))
		return nil
	}
	s.r.countCalls(-1)
	s.r.countDelegated(1)
	defer func() { s.r.countDelegated(-1); s.r.countCalls(1) }()
	var agent *run
	err = c.withTimeout(func(s *scope) (err error) {
		agent, err = s.nested(c.name, d.Program(), params)
		return err
	})
	c.rec.DurationMS = engine.Milliseconds(s.Now() - began)
	c.hasWritten = agent != nil && agent.hasWritten
	switch {
	case engine.TimedOut(err) && s.Await(always) == nil: // this call timed out, not the run
		c.rec.Fail(tool.CallTimedOut, fmt.Sprintf("the agent timed out after %s", c.tool.Spec.Timeout))
	case err != nil:
		return c.recordCut(err)
	default:
		c.recordOutput(c.tool.agentOutput(agent.result(agent.started)))
	}
	return nil
}

// withTimeout runs f within the tool's timeout. An agent without one is bounded by its
// own limits.
func (c *toolRun) withTimeout(f func(*scope) error) error {
	s := c.s
	if c.tool.Spec == nil || c.tool.Spec.Timeout <= 0 {
		return f(s)
	}
	return s.k.Bound(c.name+".timeout", c.tool.Spec.Timeout, func(k *kernel.Scope) error { return f(&scope{k, s.r}) })
}

// recordCut records that the call was interrupted and returns err.
func (c *toolRun) recordCut(err error) error {
	if engine.TimedOut(err) {
		c.rec.Fail(tool.CallTimedOut, "canceled: no time left")
	} else {
		c.rec.Fail(tool.CallError, "cut: "+err.Error())
	}
	return err
}

// agentOutput converts the result of an agent to a tool output.
func (t *BoundTool) agentOutput(res *engine.Result) (*tool.Output, error) {
	switch {
	case res.Status == stop.RunCompleted && len(res.Output) > 0:
		return t.checkOutput(&tool.Output{Data: res.Output})
	case res.Status == stop.RunCompleted:
		return t.checkOutput(&tool.Output{Text: res.Response})
	case res.Response != "":
		return nil, fmt.Errorf("the agent stopped early (%s: %s); its answer so far: %s", res.StopReason.Code, res.StopReason.Message, res.Response)
	}
	return nil, fmt.Errorf("the agent returned no answer (%s): %s", res.StopReason.Code, res.StopReason.Message)
}

// countDelegated adds n to the delegated calls of the run and its parents.
func (r *run) countDelegated(n int) {
	for ; r != nil; r = r.parent {
		r.delegatedCalls += n
	}
}

// asked returns the call as the rules of its questions see it.
func (c *toolRun) asked() *exprenv.Tool {
	return &exprenv.Tool{Name: c.rec.Tool, Effect: string(c.tool.effect()), Args: engine.ArgumentsOf(c.rec.Args), Attempts: max(c.attempts, 1)}
}

// rule returns the rule of the questions about calls of the tool.
func (t *BoundTool) rule() interrupt.Rule {
	if t.Spec == nil {
		return interrupt.Rule{}
	}
	return t.Spec.Rule
}

// approvalQuestion returns the question put to a human before the call.
func (c *toolRun) approvalQuestion() string {
	if c.inv.StepID == "" {
		return fmt.Sprintf("May %s be called?", c.rec.Tool)
	}
	return fmt.Sprintf("May step %s call %s?", c.inv.StepID, c.rec.Tool)
}

// mayNeedApproval reports whether a call of the tool can need an approval.
func (t *BoundTool) mayNeedApproval() bool {
	return t.Spec != nil && t.Spec.Approval.Source != "" && t.Spec.Approval.Source != "never"
}

// needsApproval reports whether this call needs an approval. If the condition cannot be
// evaluated, it does.
func (c *toolRun) needsApproval() bool {
	t := c.tool
	if !t.mayNeedApproval() || t.Spec.Approval.Source == "always" {
		return t.mayNeedApproval()
	}
	ask, err := t.Spec.Approval.Eval(c.env(t.Spec.Approval.Source))
	if err != nil {
		c.s.Record(engine.WarningAdded{Text: fmt.Sprintf("tools.%s.approval cannot be evaluated, so a human is asked: %v", c.rec.Tool, err)})
	}
	return ask || err != nil
}

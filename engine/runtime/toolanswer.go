package runtime

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// consult lets people give the result of a call, question by question. The tool
// only says what to ask: each question is journaled by itself, so that the run
// may wait in any process, and no effect of the tool is.
func (c *toolRun) consult(a tool.HumanTool) error {
	began := c.s.Now()
	c.attempts = 1
	var answers []interrupt.Decision
	for n := 1; ; n++ {
		q, out, err := a.Consult(c.rec.Args, answers)
		if err == nil && q == nil {
			out, err = c.tool.given(out)
		}
		if err != nil || q == nil {
			c.rec.DurationMS = engine.Milliseconds(c.s.Now() - began)
			c.answered(out, err)
			return nil
		}
		name := c.name + ".ask"
		if n > 1 {
			name += "." + strconv.Itoa(n)
		}
		q.Tool = c.rec.Tool
		c.s.event(engine.Event{Type: engine.ToolInterrupted, Path: c.name, Tool: q.Tool, Args: c.rec.Args, Step: c.step()})
		d, err := c.s.Ask(name, *q)
		if err != nil {
			c.rec.Fail(tool.CallError, "cut: nobody had answered")
			if engine.TimedOut(err) {
				c.rec.Status = tool.CallTimedOut
			}
			return err
		}
		answers = append(answers, d)
	}
}

// given is what people gave, bounded as every output of a tool.
func (t *BoundTool) given(out *tool.Output) (*tool.Output, error) {
	if out == nil {
		return nil, errors.New("the tool gave neither a question nor a result")
	}
	return t.bounded(out)
}

// answered books the result.
func (c *toolRun) answered(out *tool.Output, err error) {
	if err != nil {
		c.rec.Fail(tool.CallError, tool.Excerpt(journal.AsFailure(err).Message, c.tool.maxOutput()))
		return
	}
	c.rec.Status, c.rec.Result, c.rec.ModelText = tool.CallOK, out.Value(), out.String()
}

// delegate lets another program give the result of a call. The program's own
// calls of tools count beside this one, which waits for them and for nobody's
// place among the calls under way.
func (c *toolRun) delegate(d engine.AgentTool) error {
	s, began := c.s, c.s.Now()
	c.attempts = 1
	params, err := d.Parameters(c.rec.Args, c.u.Context)
	if err != nil {
		c.rec.Fail(tool.CallError, fmt.Sprintf("the arguments of %s cannot be used: %v", c.rec.Tool, err))
		return nil
	}
	s.r.calling(-1)
	s.r.delegating(1)
	defer func() { s.r.delegating(-1); s.r.calling(1) }()
	var agent *run
	err = c.inTime(func(s *scope) (err error) {
		agent, err = s.nested(c.name, d.Program(), params)
		return err
	})
	c.rec.DurationMS = engine.Milliseconds(s.Now() - began)
	c.wrote = agent != nil && agent.wrote
	switch {
	case engine.TimedOut(err) && s.Await(always) == nil: // it was this call's time that ran out
		c.rec.Fail(tool.CallTimedOut, fmt.Sprintf("the agent took longer than %s", c.tool.Spec.Timeout))
	case err != nil:
		return c.cut(err)
	default:
		c.answered(c.tool.answerOf(agent.result(agent.started)))
	}
	return nil
}

// inTime runs f within the tool's timeout: an agent without one takes the time
// that its own limits give it.
func (c *toolRun) inTime(f func(*scope) error) error {
	s := c.s
	if c.tool.Spec == nil || c.tool.Spec.Timeout <= 0 {
		return f(s)
	}
	return s.k.Bound(c.name+".timeout", c.tool.Spec.Timeout, func(k *kernel.Scope) error { return f(&scope{k, s.r}) })
}

// cut books that nobody waits for the call any more; err is why, and the run's own.
func (c *toolRun) cut(err error) error {
	if engine.TimedOut(err) {
		c.rec.Fail(tool.CallTimedOut, "cut: the time for it was over")
	} else {
		c.rec.Fail(tool.CallError, "cut: "+err.Error())
	}
	return err
}

// answerOf is what an agent came to, as the output of a tool.
func (t *BoundTool) answerOf(res *engine.Result) (*tool.Output, error) {
	switch {
	case res.Status == stop.RunCompleted && len(res.Output) > 0:
		return t.given(&tool.Output{Data: res.Output})
	case res.Status == stop.RunCompleted:
		return t.given(&tool.Output{Text: res.Response})
	case res.Response != "":
		return nil, fmt.Errorf("the agent ended early (%s: %s); so far it has: %s", res.StopReason.Code, res.StopReason.Message, res.Response)
	}
	return nil, fmt.Errorf("the agent gave no answer (%s): %s", res.StopReason.Code, res.StopReason.Message)
}

// delegating notes calls that agents answer, here and in the runs around.
func (r *run) delegating(n int) {
	for ; r != nil; r = r.parent {
		r.delegated += n
	}
}

package engine

import "fmt"

// delegate lets another program give the result of a call.
func (c *toolRun) delegate(d Delegate) error {
	s, began := c.s, c.s.Now()
	c.attempts = 1
	s.r.calling(-1) // its own calls are counted in beside it
	s.r.delegating(1)
	defer func() { s.r.delegating(-1); s.r.calling(1) }()
	var res *Result
	err := s.within(c.tool.Spec.Timeout, func(s *Scope) (err error) {
		res, err = s.Agent(c.name, d.Program(), d.Parameters(c.rec.Args))
		return err
	})
	c.rec.DurationMS = milliseconds(s.Now() - began)
	switch {
	case isTimeout(err) && s.Await(always) == nil:
		c.wrote = true // for all that is known
		c.rec.fail(CallTimedOut, fmt.Sprintf("the agent took longer than %s", c.tool.Spec.Timeout))
		return nil
	case err != nil:
		c.wrote = true
		c.rec.fail(CallError, "cut: "+err.Error())
		if isTimeout(err) {
			c.rec.Status = CallTimedOut
		}
		return err
	}
	c.wrote = res.Wrote
	c.answered(c.tool.answerOf(res))
	return nil
}

// answerOf is what an agent came to, as the output of a tool.
func (t *HostTool) answerOf(res *Result) (*ToolOutput, error) {
	switch {
	case res.Status == Completed:
		return t.given(&ToolOutput{Text: res.Response, Data: res.Output})
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

package runtime

import (
	"errors"
	"strconv"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
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

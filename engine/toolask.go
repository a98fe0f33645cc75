package engine

import (
	"errors"
	"strconv"

	"github.com/pexctl/pex/engine/journal"
)

// consult lets people give the result of a call, question by question. The tool
// only says what to ask: each question is journaled by itself, so that the run
// may wait in any process, and no effect of the tool is.
func (c *toolRun) consult(a Asker) error {
	began := c.s.Now()
	c.attempts = 1
	var answers []Decision
	for n := 1; ; n++ {
		q, out, err := a.Consult(c.rec.Args, answers)
		if err == nil && q == nil {
			out, err = c.tool.given(out)
		}
		if err != nil || q == nil {
			c.rec.DurationMS = milliseconds(c.s.Now() - began)
			c.answered(out, err)
			return nil
		}
		name := c.name + ".ask"
		if n > 1 {
			name += "." + strconv.Itoa(n)
		}
		q.Tool = c.rec.Tool
		c.s.event(Event{Type: ToolInterrupted, Path: c.name, Tool: q.Tool, Args: c.rec.Args, Step: c.step()})
		d, err := c.s.Ask(name, *q)
		if err != nil {
			c.rec.fail(CallError, "cut: nobody had answered")
			if isTimeout(err) {
				c.rec.Status = CallTimedOut
			}
			return err
		}
		answers = append(answers, d)
	}
}

// given is what people gave, bounded as every output of a tool.
func (t *BoundTool) given(out *ToolOutput) (*ToolOutput, error) {
	if out == nil {
		return nil, errors.New("the tool gave neither a question nor a result")
	}
	return t.bounded(out)
}

// answered books the result.
func (c *toolRun) answered(out *ToolOutput, err error) {
	if err != nil {
		c.rec.fail(CallError, clip(journal.AsFailure(err).Message, c.tool.maxOutput()))
		return
	}
	c.rec.Status, c.rec.Result, c.rec.text = CallOK, out.value(), out.text()
}

// Answer is a decision as the text of an answer: what was typed. A decision that
// keeps no words, as those of older journals, is a plain yes or no.
func (d Decision) Answer() string {
	switch {
	case d.Do == "edit":
		return string(d.Edit)
	case d.Typed != "":
		return d.Typed
	case d.Do == "approve":
		return "yes"
	case d.Do == "deny" && d.Reason != "":
		return "no: " + d.Reason
	case d.Do == "deny":
		return "no"
	}
	return d.Text
}

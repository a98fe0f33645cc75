package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// attempted is what a tool gave as the journal keeps it.
type attempted struct {
	ToolOutput
	tries
}

// tries is how often a tool was called until it gave something, or failed.
type tries struct {
	Attempts int `json:"attempts,omitempty"` // when more than one
}

// perform runs the tool as an effect. An error is a cut: the call was made,
// and nobody knows what became of it.
func (c *toolRun) perform() error {
	s := c.s
	if s.r.emit.on() {
		s.event(Event{
			Type: ToolStarted, Path: c.name, Tool: c.rec.Tool, Args: c.rec.Args,
			Step: &StepEvent{ID: c.u.StepID, Status: StepRunning},
		})
	}
	if asker, ok := c.tool.Tool.(Asker); ok {
		return c.consult(asker)
	}
	e := c.effect()
	if e.Class == journal.Write {
		s.r.write()
	}
	began := s.Now()
	out, err := kernel.Do(s.k, e)
	c.rec.DurationMS = milliseconds(s.Now() - began)
	c.attempts = max(out.Attempts, 1)
	var f *journal.Failure
	switch {
	case err == nil:
		c.rec.Status, c.rec.Result, c.rec.text = CallOK, out.value(), out.text()
	case errors.As(err, &f):
		c.attempts = attemptsOf(f)
		c.rec.fail(CallError, f.Message)
		if f.Code == "timeout" {
			c.rec.Status = CallTimedOut
		}
	case isTimeout(err):
		c.rec.fail(CallTimedOut, "cut: the time for it was over")
		return err
	default:
		c.rec.fail(CallError, "cut: "+err.Error())
		return err
	}
	return nil
}

// effect is the call as the journal sees it.
func (c *toolRun) effect() kernel.Effect[attempted] {
	s, t := c.s, c.tool
	e := kernel.Effect[attempted]{Name: c.name, Class: class(t.effect()), Layer: LayerTool}
	if s.r.journaled() {
		body := toolRequest(c.rec.Tool, c.rec.Args)
		e.Digest, e.Request = digest(body), func() []byte { return body }
	}
	call := Call{
		Args: c.rec.Args, RunID: s.r.input.RunID, Path: joinPath(s.Path(), c.name), Context: c.u.Context,
		Session: s.r.session(),
		Lookup:  s.r.lookup(c.rec.Args), Progress: c.progress(),
	}
	e.Perform = func(ctx context.Context, key string) (attempted, error) {
		call := call
		call.Key = key
		return t.attempts(ctx, &call)
	}
	return e
}

// class says what the journal has to do for an effect; an unknown one is taken
// for a write.
func class(e Effect) journal.Class {
	switch e {
	case ReadEffect:
		return journal.Read
	case IdempotentEffect:
		return journal.Idempotent
	default:
		return journal.Write
	}
}

// attempts calls a tool as often as its retry policy says; a write only once.
func (t *HostTool) attempts(ctx context.Context, c *Call) (attempted, error) {
	n := 1
	if t.Spec != nil && t.effect() != WriteEffect {
		n = max(n, t.Spec.Retry.MaxAttempts)
	}
	for i := 1; ; i++ {
		out, err := t.once(ctx, c)
		if err == nil {
			return attempted{*out, tries{counted(i)}}, nil
		}
		if i >= n || ctx.Err() != nil {
			return attempted{}, failedAfter(i, err)
		}
		pause := time.NewTimer(t.Spec.Retry.backoff(i + 1))
		select {
		case <-ctx.Done():
			pause.Stop()
			return attempted{}, failedAfter(i, err)
		case <-pause.C:
		}
	}
}

// counted leaves out a single attempt.
func counted(n int) int {
	if n == 1 {
		return 0
	}
	return n
}

// failedAfter notes in a failure how many attempts it took, so that the
// journal keeps it.
func failedAfter(n int, err error) error {
	if n == 1 {
		return err
	}
	f := *journal.AsFailure(err)
	f.Data = encoded(tries{n})
	return &f
}

func attemptsOf(f *journal.Failure) int {
	var a tries
	if len(f.Data) == 0 || json.Unmarshal(f.Data, &a) != nil {
		return 1
	}
	return max(a.Attempts, 1)
}

// progress passes on what a tool tells while it runs.
func (c *toolRun) progress() func(string) {
	r, tool, masked := c.s.r, c.rec.Tool, c.tool.mask
	if !r.emit.on() {
		return func(string) {}
	}
	path := joinPath(c.s.Path(), c.name)
	return func(m string) {
		r.emit.transient(Event{Type: ToolProgress, Path: path, Tool: tool, Text: masked.text(m)})
	}
}

func (t *HostTool) once(ctx context.Context, c *Call) (*ToolOutput, error) {
	timeout := DefaultToolTimeout
	if t.Spec != nil && t.Spec.Timeout > 0 {
		timeout = t.Spec.Timeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out, err := t.Tool.Call(ctx, c)
	out = t.mask.output(out)
	if err != nil && (ctx.Err() == context.DeadlineExceeded || errors.Is(err, context.DeadlineExceeded)) {
		return nil, &journal.Failure{Code: "timeout", Message: fmt.Sprintf("the tool took longer than %s: %s", timeout, t.mask.text(err.Error()))}
	}
	if err != nil {
		return nil, &journal.Failure{Code: "error", Message: clip(t.mask.text(err.Error()), t.maxOutput())}
	}
	return t.bounded(out)
}

// bounded applies the output filter and cuts what is too long, head and tail kept.
func (t *HostTool) bounded(out *ToolOutput) (*ToolOutput, error) {
	if t.Spec != nil && !t.Spec.OutputFilter.IsZero() {
		if !json.Valid(out.json()) {
			return nil, &journal.Failure{Code: "error", Message: "output_filter wants JSON, the tool gave text: " + clip(out.Text, 200)}
		}
		found, err := t.Spec.OutputFilter.Apply(decoded(out.json()))
		if err != nil {
			return nil, &journal.Failure{Code: "error", Message: "output_filter: " + err.Error()}
		}
		var v any = found
		if len(found) == 1 {
			v = found[0]
		}
		data, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		out = &ToolOutput{Data: data}
	}
	if max := t.maxOutput(); len(out.Text)+len(out.Data) > max {
		return &ToolOutput{Text: clip(out.text(), max)}, nil
	}
	if !utf8.ValidString(out.Text) {
		out = &ToolOutput{Text: strings.ToValidUTF8(out.Text, "\uFFFD"), Data: out.Data}
	}
	return out, nil
}

// clip keeps head and tail of a text that is longer than max bytes.
func clip(s string, max int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= max {
		return s
	}
	head := strings.ToValidUTF8(s[:max*2/3], "")
	tail := strings.ToValidUTF8(s[len(s)-max/3:], "")
	return fmt.Sprintf("%s\n[... %d of %d bytes left out ...]\n%s", head, len(s)-len(head)-len(tail), len(s), tail)
}

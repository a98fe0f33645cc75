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
	Asked *Question `json:"asked,omitempty"` // the call ended with it, and goes on with the answer
	tries
}

// tries is what a call took until the tool gave something, or failed.
type tries struct {
	Attempts int      `json:"attempts,omitempty"` // when more than one
	Sampled  []Tokens `json:"sampled,omitempty"`  // what the tool asked of its llm
}

// perform lets the tool give its result. An error is a cut: the call was made,
// and nobody knows what became of it.
func (c *toolRun) perform() error {
	s := c.s
	if s.r.emit.on() {
		s.event(Event{
			Type: ToolStarted, Path: c.name, Tool: c.rec.Tool, Args: c.rec.Args,
			Step: &StepEvent{ID: c.u.StepID, Status: StepRunning},
		})
	}
	switch t := c.tool.Tool.(type) {
	case Asker:
		return c.consult(t)
	case Delegate:
		return c.delegate(t)
	}
	if c.wrote = c.tool.effect() == WriteEffect; c.wrote {
		s.r.write()
	}
	began := s.Now()
	out, err := c.converse()
	c.rec.DurationMS = milliseconds(s.Now() - began)
	c.attempts = max(out.Attempts, 1)
	return c.booked(out, err)
}

// booked notes what came of the call.
func (c *toolRun) booked(out attempted, err error) error {
	var f *journal.Failure
	switch {
	case err == nil:
		c.rec.Status, c.rec.Result, c.rec.text = CallOK, out.value(), out.text()
	case errors.As(err, &f):
		c.attempts = triesOf(f).Attempts
		c.rec.fail(CallError, f.Message)
		if f.Code == failedTimeout {
			c.rec.Status = CallTimedOut
		}
	case isTimeout(err):
		c.rec.fail(CallTimedOut, "cut: the time for it was over")
		return err
	default:
		c.rec.fail(CallError, "cut: "+err.Error())
		return err
	}
	c.s.r.noteTrouble(c.tool, f, c.s.Now())
	return nil
}

// effect is a part of the call as the journal sees it: all of it, unless the
// tool asks people.
func (c *toolRun) effect(name string, said []exchange) kernel.Effect[attempted] {
	s, t := c.s, c.tool
	e := kernel.Effect[attempted]{Name: name, Class: class(t.effect()), Layer: LayerTool, Once: t.sampling.LLM != "" && s.r.budgeted()}
	if s.r.journaled() {
		body := toolRequest(c.rec.Tool, c.rec.Args)
		e.Digest, e.Request = digest(body), func() []byte { return body }
	}
	call := Call{
		Args: c.rec.Args, RunID: s.r.input.RunID, Path: joinPath(s.Path(), name), Context: c.u.Context,
		Session: s.r.session(),
		Lookup:  s.r.lookup(c.rec.Args), Progress: c.progress(),
	}
	e.Perform = func(ctx context.Context, key string) (attempted, error) {
		call := call
		call.Key = key
		return t.attempts(ctx, &midcall{r: s.r, tool: t, call: &call, said: said})
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
func (t *HostTool) attempts(ctx context.Context, m *midcall) (attempted, error) {
	if t.slots != nil {
		select {
		case t.slots <- struct{}{}:
			defer func() { <-t.slots }()
		case <-ctx.Done():
			return attempted{}, ctx.Err()
		}
	}
	n := 1
	if t.Spec != nil && t.effect() != WriteEffect {
		n = max(n, t.Spec.Retry.MaxAttempts)
	}
	for i := 1; ; i++ {
		out, err := t.once(ctx, m)
		took := tries{counted(i), m.sampled()}
		switch {
		case m.asked != nil:
			return attempted{Asked: m.asked, tries: took}, nil
		case err == nil:
			return attempted{ToolOutput: *out, tries: took}, nil
		case i >= n || ctx.Err() != nil:
			return attempted{}, failedAfter(took, err)
		}
		pause := time.NewTimer(t.Spec.Retry.backoff(i + 1))
		select {
		case <-ctx.Done():
			pause.Stop()
			return attempted{}, failedAfter(took, err)
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

// failedAfter notes in a failure what it took, so that the journal keeps it.
func failedAfter(took tries, err error) error {
	if took.Attempts == 0 && len(took.Sampled) == 0 {
		return err
	}
	f := *journal.AsFailure(err)
	f.Data = encoded(took)
	return &f
}

func triesOf(f *journal.Failure) tries {
	var t tries
	if len(f.Data) > 0 && json.Unmarshal(f.Data, &t) != nil {
		t = tries{}
	}
	t.Attempts = max(t.Attempts, 1)
	return t
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

// The codes of a tool's failures in a journal.
const (
	failedTool        = "error"
	failedTimeout     = "timeout"
	failedUnavailable = "unavailable" // see Unavailable
)

// once makes one attempt of a call.
func (t *HostTool) once(ctx context.Context, m *midcall) (*ToolOutput, error) {
	timeout := DefaultToolTimeout
	if t.Spec != nil && t.Spec.Timeout > 0 {
		timeout = t.Spec.Timeout
	}
	ctx, cancel := m.begin(ctx, timeout)
	defer cancel()
	out, err := t.Tool.Call(ctx, m.call)
	out = t.mask.output(out)
	if err == nil {
		return t.bounded(out)
	}
	code, text := failedTool, clip(t.mask.text(err.Error()), t.maxOutput())
	_, unavailable := errors.AsType[*UnavailableError](err)
	switch {
	case context.Cause(ctx) == context.DeadlineExceeded || errors.Is(err, context.DeadlineExceeded):
		code, text = failedTimeout, fmt.Sprintf("the tool took longer than %s: %s", timeout, text)
	case unavailable:
		code = failedUnavailable
	}
	return nil, &journal.Failure{Code: code, Message: text}
}

// bounded applies the output filter and cuts what is too long, head and tail kept.
func (t *HostTool) bounded(out *ToolOutput) (*ToolOutput, error) {
	if t.Spec != nil && !t.Spec.OutputFilter.IsZero() {
		if !json.Valid(out.json()) {
			return nil, &journal.Failure{Code: failedTool, Message: "output_filter wants JSON, the tool gave text: " + clip(out.Text, 200)}
		}
		found, err := t.Spec.OutputFilter.Apply(decoded(out.json()))
		if err != nil {
			return nil, &journal.Failure{Code: failedTool, Message: "output_filter: " + err.Error()}
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

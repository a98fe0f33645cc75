package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime/replay"
	"github.com/pexctl/pex/engine/tool"
)

// attempted is what a tool gave as the journal keeps it.
type attempted struct {
	tool.Output
	Asked *interrupt.Question `json:"asked,omitempty"` // the call ended with it, and goes on with the answer
	Heard int                 `json:"heard,omitempty"` // how many answers to earlier ones it took
	Wants int                 `json:"wants,omitempty"` // the call ended for want of so many tokens of vectors, and goes on once a budget has paid for them
	tries
}

// tries is what a call took until the tool gave something, or failed.
type tries struct {
	Attempts    int            `json:"attempts,omitempty"`     // when more than one
	Sampled     []model.Tokens `json:"sampled,omitempty"`      // what the tool asked of its llm
	Lost        int            `json:"lost,omitempty"`         // questions to it of which nobody knows what they took
	Vectors     []model.Tokens `json:"vectors,omitempty"`      // what its llm took to make vectors, by request
	LostVectors int            `json:"lost_vectors,omitempty"` // tokens of texts of which nobody knows what they took
	Key         string         `json:"key,omitempty"`          // idempotency key, of a call that failed and may have taken effect
}

// perform lets the tool give its result. An error is a cut: the call was made,
// and nobody knows what became of it.
func (c *toolRun) perform() error {
	s := c.s
	asker, asks := c.tool.Tool.(tool.HumanTool)
	if !asks {
		leave, err := c.seated()
		if err != nil {
			return c.cut(err)
		}
		defer leave()
	}
	if c.late() {
		return nil
	}
	if s.r.emit.on() {
		s.event(engine.Event{
			Type: engine.ToolStarted, Path: c.name, Tool: c.rec.Tool, Args: c.rec.Args, Repairs: c.rec.Repairs,
			Step: c.step(),
		})
	}
	if asks {
		return c.consult(asker)
	}
	if d, ok := c.tool.Tool.(engine.AgentTool); ok {
		return c.delegate(d)
	}
	if c.wrote = c.tool.effect() == tool.WriteEffect; c.wrote {
		s.r.write()
	}
	c.repeated = c.repeats()
	over := s.r.beginCall(c.tool)
	began := s.Now()
	out, err := c.converse()
	over()
	c.rec.DurationMS = engine.Milliseconds(s.Now() - began)
	c.attempts = max(out.Attempts, 1)
	return c.booked(out, err)
}

// booked notes what came of the call.
func (c *toolRun) booked(out attempted, err error) error {
	var f *journal.Failure
	switch {
	case err == nil:
		c.rec.Status, c.rec.Result, c.rec.ModelText = tool.CallOK, out.Value(), out.String()
		c.settled(nil)
	case errors.As(err, &f):
		c.attempts = triesOf(f).Attempts
		c.rec.Fail(tool.CallError, f.Message)
		if f.Code == failedTimeout {
			c.rec.Status = tool.CallTimedOut
		}
		if f.Code == failedSession {
			c.s.Record(engine.WarningAdded{Text: "tool " + c.rec.Tool + ": " + f.Message})
		}
		c.settled(f)
	default:
		return c.cut(err)
	}
	c.s.r.countOutcome(c.tool, f, c.s.Now())
	return nil
}

// effect is a part of the call as the journal sees it: all of it, unless the
// tool asks people, or for vectors of more tokens than are allowed.
func (c *toolRun) effect(name string, said []exchange, allowed int) kernel.Effect[attempted] {
	s, t := c.s, c.tool
	e := kernel.Effect[attempted]{
		Name: name, Class: class(t.effect()), Layer: replay.LayerTool, Key: c.repeated,
		Once: t.billed() != "" && s.r.budgeted(),
	}
	if s.r.journaled() {
		e.Digest = digest(toolRequest(c.rec.Tool, c.rec.Args, ""))
		e.Request = func() []byte { return toolRequest(c.rec.Tool, c.rec.Args, c.repeated) }
	}
	send := c.sender()
	call := tool.Call{
		Args: c.rec.Args, RunID: s.r.input.RunID, Path: joinPath(s.Path(), name), Context: c.u.Context,
		Session: s.r.session(), Files: s.r.root().input.GivenFiles(),
		Lookup: s.r.lookup(c.rec.Args), Progress: c.progress(send),
		Kept: func(d tool.Definition) tool.Definition { return t.mask.Definition(d.Visible()) },
	}
	var shown <-chan struct{}
	if t.effect() == tool.WriteEffect && s.r.root().host.People != nil {
		shown = s.shown()
	}
	metered := e.Once
	e.Perform = func(ctx context.Context, key string) (attempted, error) {
		p := &part{r: s.r, tool: t, call: call, emit: send, shown: shown, said: said, metered: metered, allowed: allowed}
		p.call.Key = key
		return t.attempts(ctx, p)
	}
	return e
}

// class says what the journal has to do for an effect; an unknown one is taken
// for a write.
func class(e tool.Effect) journal.Class {
	switch e {
	case tool.ReadEffect:
		return journal.Read
	case tool.IdempotentEffect:
		return journal.Idempotent
	default:
		return journal.Write
	}
}

// attempts calls a tool as often as its retry policy says; a write only once.
func (t *BoundTool) attempts(ctx context.Context, p *part) (attempted, error) {
	n := 1
	if t.Spec != nil && t.effect() != tool.WriteEffect {
		n = max(n, t.Spec.Retry.MaxAttempts)
	}
	uncertain := false
	for i := 1; ; i++ {
		out, mayHave, err := t.once(ctx, p)
		uncertain = uncertain || mayHave
		last := err == nil || i >= n || ctx.Err() != nil
		if !last {
			wait := t.Spec.Retry.Backoff(i)
			e := model.RetryEvent{Attempt: i + 1, MaxAttempts: n, Wait: engine.Milliseconds(wait), Error: err.Error()}
			p.emit(retrying(engine.Event{Type: engine.ToolRetrying}, e, t.mask))
			pause := time.NewTimer(wait)
			select {
			case <-pause.C:
				continue
			case <-ctx.Done():
				pause.Stop()
			}
		}
		out.tries = p.took(i)
		if err != nil && uncertain {
			return out, t.unknown(journal.AsFailure(err), out.tries, p.call.Key)
		}
		return out, failedAfter(out.tries, err)
	}
}

// took is what a part has taken that is over, in so many attempts.
func (p *part) took(attempts int) tries {
	t := p.meter.close()
	t.Attempts = counted(attempts)
	return t
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
	if err == nil || took.nothing() {
		return err
	}
	return failedWith(took, journal.AsFailure(err))
}

// failedWith is a failure that notes what the call took.
func failedWith(took tries, f *journal.Failure) *journal.Failure {
	noted := *f
	noted.Data = jsonvalue.Encode(took)
	return &noted
}

// nothing says that one attempt was made, which asked no llm.
func (t tries) nothing() bool {
	return t.Attempts == 0 && len(t.Sampled) == 0 && t.Lost == 0 && len(t.Vectors) == 0 && t.LostVectors == 0 && t.Key == ""
}

func triesOf(f *journal.Failure) tries {
	var t tries
	if len(f.Data) > 0 && json.Unmarshal(f.Data, &t) != nil {
		t = tries{}
	}
	t.Attempts = max(t.Attempts, 1)
	return t
}

// progress passes on what the tool says while it runs.
func (c *toolRun) progress(send func(engine.Event)) func(string) {
	if !c.s.r.emit.on() {
		return func(string) {}
	}
	masked := c.tool.mask
	return func(text string) { send(engine.Event{Type: engine.ToolProgress, Text: masked.Text(text)}) }
}

// sender sends events of the call while it is under way.
func (c *toolRun) sender() func(engine.Event) {
	send, tool := c.s.transients(c.name), c.rec.Tool
	if !c.s.r.emit.on() {
		return send
	}
	return func(ev engine.Event) {
		ev.Tool = tool
		send(ev)
	}
}

// The codes of a tool's failures in a journal.
const (
	failedTool        = "error"
	failedTimeout     = "timeout"
	failedUnavailable = "unavailable" // see Unavailable
	failedSession     = "session"     // see sessionError
)

// once makes one attempt of a call; that it ended with a question, or for want of
// vectors, is no failure. mayHave says of an error that the call may have taken
// effect all the same.
func (t *BoundTool) once(ctx context.Context, p *part) (out attempted, mayHave bool, err error) {
	timeout := tool.DefaultTimeout
	if t.Spec != nil && t.Spec.Timeout > 0 {
		timeout = t.Spec.Timeout
	}
	m := p.begin(ctx, timeout)
	given, err := t.Tool.Call(m.ctx, m.made())
	cut := context.Cause(m.ctx)
	asked, heard, wants := m.close()
	switch {
	case asked != nil:
		return attempted{Asked: asked, Heard: heard}, false, nil
	case wants > 0:
		return attempted{Wants: wants}, false, nil
	}
	given = t.mask.Output(given)
	if err == nil {
		if given, err = t.given(given); err != nil {
			return attempted{}, false, t.unusable(err)
		}
		return attempted{Output: *given}, false, nil
	}
	late := errors.Is(cut, context.DeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
	code, text := failedTool, tool.Excerpt(t.mask.Text(err.Error()), t.maxOutput())
	_, unavailable := errors.AsType[*tool.UnavailableError](err)
	_, session := errors.AsType[*sessionError](err)
	switch {
	case session:
		code, text = failedSession, "what it keeps for this conversation cannot be used now: "+text
	case late:
		code, text = failedTimeout, fmt.Sprintf("the tool took longer than %s: %s", timeout, text)
	case unavailable:
		code = failedUnavailable
	}
	return attempted{}, tool.MayHaveEffect(err, late || cut != nil), &journal.Failure{Code: code, Message: text}
}

// unusable is the error of a call that was made and whose output cannot be used.
func (t *BoundTool) unusable(err error) error {
	if t.effect() == tool.ReadEffect {
		return err
	}
	f := *journal.AsFailure(err)
	f.Message = "The call succeeded, so do not repeat it, but its output cannot be used: " + f.Message
	return &f
}

// bounded applies the output filter and cuts what is too long, head and tail kept.
func (t *BoundTool) bounded(out *tool.Output) (*tool.Output, error) {
	if t.Spec != nil && !t.Spec.OutputFilter.IsZero() {
		if !json.Valid(out.JSON()) {
			return nil, &journal.Failure{Code: failedTool, Message: "output_filter wants JSON, the tool gave text: " + tool.Excerpt(out.Text, 200)}
		}
		found, err := t.Spec.OutputFilter.Apply(jsonvalue.Decode(out.JSON()))
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
		out = &tool.Output{Data: data}
	}
	if max := t.maxOutput(); len(out.Text)+len(out.Data) > max {
		return &tool.Output{Text: tool.Excerpt(out.String(), max)}, nil
	}
	if !utf8.ValidString(out.Text) {
		out = &tool.Output{Text: strings.ToValidUTF8(out.Text, "\uFFFD"), Data: out.Data}
	}
	return out, nil
}

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
	"github.com/pexctl/pex/engine/tracecontext"
)

// segmentResult is the output of a call segment as the journal stores it.
type segmentResult struct {
	tool.Output
	Question    *interrupt.Question `json:"asked,omitempty"` // question that ended the segment; the call continues with its answer
	AnswersUsed int                 `json:"heard,omitempty"` // number of earlier answers the tool used
	WantTokens  int                 `json:"wants,omitempty"` // embedding tokens whose lack ended the segment; the call continues once they are paid for
	attemptStats
}

// attemptStats is what a call used until it succeeded or failed.
type attemptStats struct {
	Attempts    int            `json:"attempts,omitempty"`     // if more than one
	Sampled     []model.Tokens `json:"sampled,omitempty"`      // usage of the tool's samples
	Lost        int            `json:"lost,omitempty"`         // samples whose usage is unknown
	Vectors     []model.Tokens `json:"vectors,omitempty"`      // usage of embeddings, by request
	LostVectors int            `json:"lost_vectors,omitempty"` // tokens of texts whose usage is unknown
	Key         string         `json:"key,omitempty"`          // idempotency key of a failed call that may have taken effect
}

// perform makes the call. An error means that the call was interrupted and its outcome is
// unknown.
func (c *toolRun) perform() error {
	s := c.s
	asker, asks := c.tool.Tool.(tool.HumanTool)
	if !asks {
		if err := c.acquire(); err != nil {
			return c.recordCut(err)
		}
		defer c.release()
	}
	if c.obsolete() {
		return nil
	}
	if s.r.emit.enabled() {
		c.announceStart()
	}
	if asks {
		return c.askHumans(asker)
	}
	if d, ok := c.tool.Tool.(engine.AgentTool); ok {
		return c.callAgent(d)
	}
	if c.hasWritten = c.tool.effect() == tool.WriteEffect; c.hasWritten {
		s.r.markWrote()
	}
	if s.r.emit.enabled() {
		c.remote = newRemoteCall(c.tool.Tool)
	}
	c.reusedKey = c.earlierKey()
	over := s.r.beginCall(c.tool)
	began := s.Now()
	out, err := c.runWithQuestions()
	over()
	c.rec.DurationMS = engine.Milliseconds(s.Now() - began)
	c.attempts = max(out.Attempts, 1)
	return c.recordOutcome(out, err)
}

// announceStart emits the event of a started call.
func (c *toolRun) announceStart() {
	c.s.event(c.event(engine.ToolStarted))
}

// recordOutcome records the output or failure of the call.
func (c *toolRun) recordOutcome(out segmentResult, err error) error {
	f, failed := errors.AsType[*journal.Failure](err)
	switch {
	case err == nil:
		c.rec.Status, c.rec.Result, c.rec.ModelText = tool.CallOK, out.Value(), out.String()
		c.settleEffect(nil)
	case failed:
		c.attempts = statsOf(f).Attempts
		c.rec.Fail(tool.CallError, f.Message)
		if f.Code == failedTimeout {
			c.rec.Status = tool.CallTimedOut
		}
		if f.Code == failedSession {
			c.s.Record(engine.WarningAdded{Text: "tool " + c.rec.Tool + ": " + f.Message})
		}
		c.settleEffect(f)
	default:
		return c.recordCut(err)
	}
	c.s.r.countOutcome(c.tool, f, c.s.Now())
	return nil
}

// effect returns the journal effect of a call segment. A call has one segment unless the
// tool asks humans or needs an embedding grant.
func (c *toolRun) effect(name string, answers []qa, allowed int) kernel.Effect[segmentResult] {
	s, t := c.s, c.tool
	if rule := t.rule().Or(c.guarded); !rule.IsZero() && t.effect() == tool.WriteEffect {
		s.r.restrict(joinPath(s.Path(), name), rule, interrupt.Review, c.asked())
	}
	e := kernel.Effect[segmentResult]{
		Name: name, Class: class(t.effect()), Layer: replay.LayerTool, Key: c.reusedKey,
		AtMostOnce: t.billedLLM() != "" && s.r.budgeted(),
	}
	if s.r.journaled() {
		e.Digest = digest(toolRequest(c.rec.Tool, c.rec.Args, ""))
		e.Request = func() []byte { return toolRequest(c.rec.Tool, c.rec.Args, c.reusedKey) }
	}
	p := &callSegment{
		toolWork: toolWork{Tool: c.rec.Tool, Server: t.server, Definition: t.def, Args: c.rec.Args, Context: c.inv.Context, Answers: answers, Metered: e.AtMostOnce, Granted: allowed},
		site:     &s.r.site, tool: t, path: joinPath(s.Path(), name), emit: c.sender(), observed: s.r.emit.enabled(), remote: c.remote, dimensions: &c.dimensions,
	}
	if root := s.r.root(); t.effect() == tool.WriteEffect && root.host.Responder != nil {
		p.asks, p.announced = root, s.eventsDelivered()
	}
	p.spans, p.span = s.outgoing(c.name)
	e.Work, e.Perform = p, p.perform
	return e
}

// perform makes the call, concurrently with the run.
func (p *callSegment) perform(ctx context.Context, key string) (segmentResult, error) {
	st, progress := p.site, func(string) {}
	if p.observed {
		progress = p.progress
	}
	p.call = tool.Call{
		Args: p.Args, Key: key, RunID: st.runID, Path: p.path, Context: p.Context,
		Session: st.session(), Files: st.files(), Lookup: st.lookup(p.Args), Progress: progress, Redacted: p.tool.redactVisible, Report: p.remote.reporter(),
	}
	return p.tool.callWithRetry(p.spans.Call(ctx, tracecontext.ToolKind, p.span), p)
}

// progress forwards a tool's progress message.
func (p *callSegment) progress(text string) {
	p.emit(engine.Event{Type: engine.ToolProgress, Text: p.tool.mask.Text(text)})
}

// class returns the journal class of an effect; an unknown effect counts as a write.
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

// callWithRetry calls a tool with its retry policy. Writes are called once.
func (t *BoundTool) callWithRetry(ctx context.Context, p *callSegment) (segmentResult, error) {
	n := 1
	if t.Spec != nil && t.effect() != tool.WriteEffect {
		n = max(n, t.Spec.Retry.MaxAttempts)
	}
	uncertain := false
	for i := 1; ; i++ {
		out, mayHave, err := t.attemptOnce(ctx, p)
		uncertain = uncertain || mayHave
		last := err == nil || i >= n || ctx.Err() != nil
		if !last {
			wait := t.Spec.Retry.Backoff(i)
			e := model.RetryEvent{Attempt: i + 1, MaxAttempts: n, Wait: engine.Milliseconds(wait), Error: err.Error()}
			p.emit(retryEvent(engine.Event{Type: engine.ToolRetrying}, e, t.mask))
			pause := time.NewTimer(wait)
			select {
			case <-pause.C:
				continue
			case <-ctx.Done():
				pause.Stop()
			}
		}
		out.attemptStats = p.stats(i)
		if err != nil && uncertain {
			return out, t.unknownOutcome(journal.AsFailure(err), out.attemptStats, p.call.Key)
		}
		return out, withStats(out.attemptStats, err)
	}
}

// stats ends the segment's meter and returns its usage and attempts.
func (p *callSegment) stats(attempts int) attemptStats {
	t := p.meter.close()
	t.Attempts = omitSingle(attempts)
	return t
}

// omitSingle returns 0 for a single attempt, which the journal omits.
func omitSingle(n int) int {
	if n == 1 {
		return 0
	}
	return n
}

// withStats attaches stats to an error so that the journal stores them.
func withStats(took attemptStats, err error) error {
	if err == nil || took.isZero() {
		return err
	}
	return failureWithStats(took, journal.AsFailure(err))
}

// failureWithStats returns a copy of f with the stats attached.
func failureWithStats(took attemptStats, f *journal.Failure) *journal.Failure {
	noted := *f
	noted.Data = jsonvalue.Encode(took)
	return &noted
}

// isZero reports whether there was a single attempt without LLM usage.
func (t attemptStats) isZero() bool {
	return t.Attempts == 0 && len(t.Sampled) == 0 && t.Lost == 0 && len(t.Vectors) == 0 && t.LostVectors == 0 && t.Key == ""
}

func statsOf(f *journal.Failure) attemptStats {
	var t attemptStats
	if len(f.Data) > 0 && json.Unmarshal(f.Data, &t) != nil {
		t = attemptStats{}
	}
	t.Attempts = max(t.Attempts, 1)
	return t
}

// sender returns the function that sends transient events of the call.
func (c *toolRun) sender() func(engine.Event) {
	send, tool := c.s.transientSender(c.name), c.rec.Tool
	if !c.s.r.emit.enabled() {
		return send
	}
	return func(ev engine.Event) {
		ev.Tool = tool
		send(ev)
	}
}

// Codes of tool failures in the journal.
const (
	failedTool        = "error"
	failedTimeout     = "timeout"
	failedUnavailable = "unavailable" // tool.UnavailableError
	failedSession     = "session"     // sessionError
)

// attemptOnce makes one attempt of a call. Ending with a question or for lack of a grant
// is no error. mayHave reports that the call may have taken effect despite the error.
func (t *BoundTool) attemptOnce(ctx context.Context, p *callSegment) (out segmentResult, mayHave bool, err error) {
	timeout := tool.DefaultTimeout
	if t.Spec != nil && t.Spec.Timeout > 0 {
		timeout = t.Spec.Timeout
	}
	m := p.begin(ctx, timeout)
	output, err := t.Tool.Call(m.ctx, m.toolCall())
	cut := context.Cause(m.ctx)
	question, used, wants := m.close()
	switch {
	case question != nil:
		return segmentResult{Question: question, AnswersUsed: used}, false, nil
	case wants > 0:
		return segmentResult{WantTokens: wants}, false, nil
	}
	output = t.mask.Output(output)
	if err == nil {
		if output, err = t.checkOutput(output); err != nil {
			return segmentResult{}, false, t.unusableOutput(err)
		}
		return segmentResult{Output: *output}, false, nil
	}
	late := errors.Is(cut, context.DeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
	code, text := failedTool, tool.Excerpt(t.mask.Text(err.Error()), t.maxOutput())
	_, unavailable := errors.AsType[*tool.UnavailableError](err)
	_, session := errors.AsType[*sessionError](err)
	switch {
	case session:
		code, text = failedSession, "its data for this conversation is not available: "+text
	case late:
		code, text = failedTimeout, fmt.Sprintf("the tool timed out after %s: %s", timeout, text)
	case unavailable:
		code = failedUnavailable
	}
	return segmentResult{}, tool.MayHaveEffect(err, late || cut != nil), &journal.Failure{Code: code, Message: text}
}

// unusableOutput returns the error for a successful call with an invalid output.
func (t *BoundTool) unusableOutput(err error) error {
	if t.effect() == tool.ReadEffect {
		return err
	}
	f := *journal.AsFailure(err)
	f.Message = "The call succeeded, so do not repeat it, but its output is unusable: " + f.Message
	return &f
}

// limitOutput applies the output filter and shortens long output, keeping its head and
// tail.
func (t *BoundTool) limitOutput(out *tool.Output) (*tool.Output, error) {
	if t.Spec != nil && !t.Spec.OutputFilter.IsZero() {
		if !json.Valid(out.JSON()) {
			return nil, &journal.Failure{Code: failedTool, Message: "output_filter requires JSON, but the tool returned text: " + tool.Excerpt(out.Text, 200)}
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

var _ kernel.Canonical[segmentResult] = segmentResult{}

// Canonical returns the result as decoding its JSON returns it.
func (o segmentResult) Canonical() segmentResult {
	if o.rare() {
		b, err := jsonvalue.Marshal(o)
		var decoded segmentResult
		if err != nil || json.Unmarshal(b, &decoded) != nil {
			return o // AppendJSON reports it
		}
		return decoded
	}
	o.Text, o.Key = jsonvalue.ValidString(o.Text), jsonvalue.ValidString(o.Key)
	if o.Sampled, o.Vectors = nil, nil; len(o.Data) == 0 {
		o.Data = nil
	} else if data, ok := jsonvalue.CompactRaw(o.Data); ok {
		o.Data = data
	}
	return o
}

// rare reports whether a result has more than an output: those are encoded by reflection.
func (o *segmentResult) rare() bool {
	return o.Question != nil || len(o.Sampled) > 0 || len(o.Vectors) > 0
}

// AppendJSON appends the JSON of a canonical result to b: what encoding/json writes.
func (o segmentResult) AppendJSON(b []byte) ([]byte, error) {
	if o.rare() {
		plain, err := jsonvalue.Marshal(o)
		return append(b, plain...), err
	}
	if len(o.Data) > 0 && !json.Valid(o.Data) {
		return nil, errors.New("the tool's data is not JSON")
	}
	w := jsonvalue.NewObject(b)
	w.String("text", o.Text)
	w.Raw("data", o.Data)
	w.Count("heard", int64(o.AnswersUsed))
	w.Count("wants", int64(o.WantTokens))
	w.Count("attempts", int64(o.Attempts))
	w.Count("lost", int64(o.Lost))
	w.Count("lost_vectors", int64(o.LostVectors))
	w.Text("key", o.Key)
	return w.End(), nil
}

package runtime

import (
	"context"
	"errors"
	"fmt"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/attachment"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/modelrecord"
	"github.com/pexctl/pex/engine/runtime/redact"
	"github.com/pexctl/pex/engine/runtime/replay"
	"github.com/pexctl/pex/engine/tracecontext"
)

// journaledModel performs a call as an effect, or reads its result from the journal. It
// is the last stage.
type journaledModel struct{}

func (journaledModel) ask(s *scope, q *modelQuery) (*model.Reply, error) {
	q.started = s.k.Now()
	if s.r.emit.enabled() {
		s.announceModelCall(q)
	}
	e := s.modelEffect(q.attempt, &q.llm, q.request)
	e.Interruptible = q.call.Interruptible
	reply, err := kernel.Do(s.k, e)
	if errors.Is(err, kernel.ErrInterrupting) {
		return nil, modelFailure(&model.Error{Kind: model.Interrupted, Message: "a message of the user ended the call"}, q.request.Metered)
	}
	return reply, err
}

// announceModelCall emits the event of a started call.
func (s *scope) announceModelCall(q *modelQuery) {
	ev := q.event(engine.ModelStarted)
	ev.Request = &q.request.Request
	s.event(ev)
}

func (s *scope) modelEffect(at attempt, m *boundModel, req *request) kernel.Effect[*model.Reply] {
	llm := m.choose(&req.Request)
	name := at.path()
	e := kernel.Effect[*model.Reply]{Name: name, Class: journal.Read, Layer: replay.LayerLLM, Detail: &req.Request, AcceptDrift: s.driftRule(), AtMostOnce: req.Metered}
	if s.r.journaled() {
		segments, w := s.r.segments, modelrecord.NewRequest(&req.Request)
		e.Digest = w.Digest()
		e.OnReplay = segments.AddRecorded
		e.Request = func() []byte {
			body, err := segments.Encode(w.Record(&s.r.defs))
			if err != nil {
				return nil // store only the digest
			}
			return body
		}
	}
	if d, ok := llm.(model.Delayed); ok {
		e.Delay = d.Delay()
	}
	req.site, req.llm, req.bound, req.attempt, req.streams = &s.r.site, llm, m, at, s.r.opts.Stream
	req.spans, req.span = s.outgoing(name)
	if s.r.emit.enabled() {
		req.notify = s.transientSender(name)
	}
	if _, ok := m.model.(model.Sequenced); !ok {
		e.Work = req
	}
	e.Perform = req.perform
	return e
}

// perform calls the model, concurrently with the run.
func (q *request) perform(ctx context.Context, key string) (*model.Reply, error) {
	spec := q.bound.spec
	if q.llm == nil {
		return nil, modelFailure(&model.Error{Kind: model.NotFound, Message: "llm " + spec.Name + " is not connected"}, false)
	}
	if me := q.attempt.begin(q.site.retries); me != nil {
		return nil, modelFailure(me, false)
	}
	q.sent = q.Request
	if me := attachment.Load(q.site.outermost().host.Artifacts, &q.sent); me != nil {
		return nil, modelFailure(me, false)
	}
	q.sent.Key = q.attempt.key(key)
	ctx = q.spans.Call(ctx, tracecontext.ModelKind, q.span)
	mask := redact.New(q.site.host.Secrets)
	if q.notify != nil {
		ctx = model.WithRetryNotice(ctx, func(e model.RetryEvent) {
			q.notify(retryEvent(engine.Event{Type: engine.ModelRetrying, Model: spec.Name, Role: q.Role}, e, mask))
		})
	}
	reply, err := redact.Model{Model: q.llm, Mask: mask}.Generate(ctx, &q.sent, q.deltas())
	if err != nil {
		return nil, modelFailure(model.AsError(err), q.Metered)
	}
	return reply, nil
}

// modelFailure encodes a model's error for the journal. metered reports that a budget
// pays for the call.
func modelFailure(e *model.Error, metered bool) error {
	failure := *e
	failure.Charged = metered && e.MaybeBilled()
	return modelrecord.EncodeError(&failure)
}

// choose returns the model that performs a call. A model.Sequenced chooses once per call,
// so repeats use the same one.
func (m *boundModel) choose(req *model.Request) model.Model {
	if m.chosen == nil {
		m.chosen = m.model
		if seq, ok := m.model.(model.Sequenced); ok {
			m.chosen = seq.Choose(req)
		}
	}
	return m.chosen
}

// deltas returns the function that streams to the sinks; nil if streaming is off.
func (q *request) deltas() func(model.Delta) {
	switch {
	case !q.streams:
		return nil
	case q.notify == nil:
		return func(model.Delta) {}
	}
	return func(d model.Delta) {
		q.notify(engine.Event{Type: engine.ModelDelta, Model: q.bound.spec.Name, Role: q.Role, Text: d.Text})
	}
}

// driftRule returns acceptDrift if it can accept anything, else nil.
func (s *scope) driftRule() func() bool {
	r := s.r.root()
	if r.input.Origin == nil || r.input.Origin.Version == r.opts.Version {
		return nil
	}
	return s.acceptDrift
}

// acceptDrift accepts a recorded reply although the request differs from the recorded one:
// another version of this program recorded it, and the built-in prompts may have changed.
func (s *scope) acceptDrift() bool {
	r := s.r.root()
	if !r.versionWarned {
		r.versionWarned = true
		s.Record(engine.WarningAdded{Text: fmt.Sprintf("version %s started the run, and its prompts differ from those of version %s; recorded replies are still used", r.input.Origin.Version, r.opts.Version)})
	}
	return true
}

func joinPath(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "/" + b
}

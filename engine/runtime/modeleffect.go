package runtime

import (
	"context"
	"fmt"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/modelrecord"
	"github.com/pexctl/pex/engine/runtime/redact"
	"github.com/pexctl/pex/engine/runtime/replay"
)

// journaledModel performs a call as an effect, or takes its result from the
// journal. It is the last stage.
type journaledModel struct{}

func (journaledModel) ask(s *scope, q *modelQuery) (*model.Reply, error) {
	q.started = s.k.Now()
	if s.r.emit.on() {
		s.event(engine.Event{Type: engine.ModelStarted, Path: q.attempt.path(), Model: q.llm.spec.Name, Role: q.call.Role, Step: stepRef(&q.call)})
	}
	return kernel.Do(s.k, s.modelEffect(q.attempt, q.llm, q.request))
}

func (s *scope) modelEffect(at attempt, m *boundModel, req *model.Request) kernel.Effect[*model.Reply] {
	llm := m.choose(req)
	name := at.path()
	e := kernel.Effect[*model.Reply]{Name: name, Class: journal.Read, Layer: replay.LayerLLM, Detail: req, Drifted: s.drifted, Once: req.Metered}
	if s.r.journaled() {
		segments, w := s.r.segments, modelrecord.Of(req)
		e.Digest = w.Digest()
		e.Reread = segments.Keep
		e.Request = func() []byte {
			body, err := segments.Encode(w.Record(&s.r.defs))
			if err != nil {
				return nil // the digest alone is kept
			}
			return body
		}
	}
	if d, ok := llm.(model.Delayed); ok {
		e.Delay = d.Delay()
	}
	stream, send := s.deltas(name, m.spec.Name, req.Role), s.transients(name)
	e.Perform = func(ctx context.Context, key string) (*model.Reply, error) {
		if llm == nil {
			return nil, modelFailure(&model.Error{Kind: model.NotFound, Message: "llm " + m.spec.Name + " is not connected"}, false)
		}
		if me := at.begin(s.r.retries); me != nil {
			return nil, modelFailure(me, false)
		}
		call := *req
		call.Key = at.key(key)
		mask := redact.New(s.r.host.Secrets)
		ctx = model.WithRetries(ctx, s.r.retries)
		if s.r.emit.on() {
			ctx = model.WithRetryNotice(ctx, func(e model.RetryEvent) {
				send(retrying(engine.Event{Type: engine.ModelRetrying, Model: m.spec.Name, Role: req.Role}, e, mask))
			})
		}
		reply, err := redact.Model{Model: llm, Mask: mask}.Generate(ctx, &call, stream)
		if err != nil {
			return nil, modelFailure(model.AsError(err), req.Metered)
		}
		return reply, nil
	}
	return e
}

// modelFailure is a model's error as the journal keeps it; metered says that a
// budget pays for the call.
func modelFailure(e *model.Error, metered bool) error {
	kept := *e
	kept.Charged = metered && e.MaybeBilled()
	return modelrecord.EncodeError(&kept)
}

// choose is the model that performs a call: of one that chooses, what it chose
// for this call, also when it is performed again.
func (m *boundModel) choose(req *model.Request) model.Model {
	if m.chosen == nil {
		m.chosen = m.model
		if seq, ok := m.model.(model.Sequenced); ok {
			m.chosen = seq.Choose(req)
		}
	}
	return m.chosen
}

// deltas passes a stream to the sinks; nil when nobody watches.
func (s *scope) deltas(name, llm, role string) func(model.Delta) {
	r := s.r
	if !r.opts.Stream {
		return nil
	}
	if !r.emit.on() {
		return func(model.Delta) {}
	}
	send := s.transients(name)
	return func(d model.Delta) { send(engine.Event{Type: engine.ModelDelta, Model: llm, Role: role, Text: d.Text}) }
}

// drifted takes a recorded reply for a request that is not quite the recorded
// one where another version of this program made that: its own prompts may
// have changed since, and what was answered was answered.
func (s *scope) drifted() bool {
	r := s.r
	for r.parent != nil {
		r = r.parent
	}
	if r.input.Origin == nil || r.input.Origin.Version == r.opts.Version {
		return false
	}
	if !r.outdated {
		r.outdated = true
		s.Record(engine.WarningAdded{Text: fmt.Sprintf("the run was begun by version %s, whose prompts differ from those of %s: what was answered stands", r.input.Origin.Version, r.opts.Version)})
	}
	return true
}

func joinPath(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "/" + b
}

package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/modelrecord"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
)

// Model implements Scope.
func (s *scope) Model(name string, c model.Call) (*model.Reply, error) {
	r := s.r
	key := callKey{c.Role, ""}
	if c.Role == "executor" {
		key.step = c.StepID
	}
	r.calls[key]++
	nth := r.calls[key] // other branches may call meanwhile
	m, ok := r.models[c.LLM]
	if !ok {
		return nil, stop.Fail(stop.Internal, "llms", "llm %q is not in the program", c.LLM)
	}
	m.more = len(m.spec.Fallback) > 0
	reply, err := s.insist(name, nth, m, c)
	for i, other := range m.spec.Fallback {
		var me *model.Error
		if err == nil || !errors.As(err, &me) || !me.AllowsFallback() {
			break
		}
		s.Record(engine.WarningAdded{Text: fmt.Sprintf("llm %s gave no answer, %s is asked instead: %s", c.LLM, other, me), Repair: engine.FellBack})
		next := r.models[other]
		next.more = i+1 < len(m.spec.Fallback)
		reply, err = s.insist(fmt.Sprintf("%s.fallback.%d", name, i+1), nth, next, c)
	}
	if err != nil {
		return nil, err
	}
	if err := s.boundary(name, "reply"); err != nil {
		return nil, err
	}
	return reply, nil
}

// call reserves the budget, performs or replays one call, and settles. An error
// of the model is a *journal.Failure.
func (s *scope) call(at attempt, nth int, m *boundModel, c model.Call) (*model.Reply, error) {
	if err := s.halted(); err != nil {
		return nil, err
	}
	r := s.r
	req := &model.Request{
		Role: c.Role, Call: nth, Step: c.Step, Messages: c.Messages, Tools: c.Tools,
		ParallelTools: c.Parallel, Schema: c.Schema, Params: m.spec.Params, Fallback: m.more, Made: at.made,
	}
	if r.traced() && at.n == 0 {
		r.trace(Requested{req})
	}
	var held reservation
	name := at.path()
	if req.Metered = r.budgeted(); req.Metered {
		var err error
		if held, err = s.reserve(req, m.spec.Cost); err != nil {
			return nil, err
		}
		s.charge(name, held)
	}
	started := s.k.Now()
	if r.emit.on() {
		s.event(engine.Event{Type: engine.ModelStarted, Path: name, Model: m.spec.Name, Role: c.Role, Step: stepRef(c)})
	}
	reply, err := kernel.Do(s.k, s.modelEffect(at, m, req))
	if err != nil {
		r.failed = m.spec.Path
		r.settle(held, s.unanswered(name, m.spec.Name, held, err))
		return nil, err
	}
	s.uncharge(name, held)
	cost := m.spec.Cost.Of(reply.Usage)
	if r.settle(held, reservation{tokens: reply.Usage.Total(), cost: cost}) && req.Metered {
		s.Record(engine.WarningAdded{Text: fmt.Sprintf("llm %s used %d tokens where at most %d were expected", m.spec.Name, reply.Usage.Total(), held.tokens)})
	}
	if req.Bounded && reply.Stop == model.MaxTokens {
		reply.Bound = &model.OutputBound{Tokens: req.Params.MaxOutputTokens, Limit: req.BoundBy}
	}
	s.checkReply(m.spec.Name, c.Role, reply)
	r.spoken.replied(s, c, reply)
	s.Record(engine.ModelCalled{Model: m.spec.Name, Tokens: reply.Usage, Cost: cost})
	if r.emit.on() {
		s.event(engine.Event{
			Type: engine.ModelCompleted, Path: name, Model: m.spec.Name, Role: c.Role, Step: stepRef(c), Usage: &reply.Usage,
			CostUSD: cost, Status: string(reply.Stop), Duration: engine.Milliseconds(s.k.Now() - started), FirstToken: engine.Milliseconds(reply.FirstToken),
			Message: &model.Message{Role: model.Assistant, Text: replyText(reply.Text), Calls: reply.Calls},
		})
	}
	return reply, nil
}

// checkReply warns of what a reply shows of its server.
func (s *scope) checkReply(llm, role string, r *model.Reply) {
	if r.Uncounted {
		s.warnOnce("uncounted", llm, fmt.Sprintf("llm %s (%s): the server reports no token usage, so tokens and cost are estimated, and limits.max_tokens and "+
			"limits.max_cost are only as exact as that (characters / 4); --no-stream helps where a server counts whole replies only", llm, role))
	}
	if r.Sent > 0 {
		s.warnOnce("cut", llm, fmt.Sprintf("llm %s (%s): the server counted %d input tokens of a prompt of about %d, so it may have cut the prompt to its context window; "+
			"raise that window at the server (num_ctx of Ollama), or shorten the prompt", llm, role, r.Usage.Input, r.Sent))
	}
}

// warnOnce records a warning about an llm once in a whole tree of runs.
func (s *scope) warnOnce(kind, llm, text string) {
	root := s.r.root()
	key := kind + " " + s.r.program.Name + " " + llm
	if root.warned[key] {
		return
	}
	if root.warned == nil {
		root.warned = map[string]bool{}
	}
	root.warned[key] = true
	s.Record(engine.WarningAdded{Text: text})
}

func replyText(s string) model.Text {
	if s == "" {
		return nil
	}
	return model.Text{s}
}

func stepRef(c model.Call) *engine.StepEvent {
	if c.StepID == "" {
		return nil
	}
	return &engine.StepEvent{ID: c.StepID, Goal: c.Step, Status: plan.Running}
}

// reserve holds the worst case of a request and bounds its output to it.
func (s *scope) reserve(req *model.Request, price *model.Cost) (reservation, error) {
	input := requestBytes(req) / 2
	wanted, out, least := req.Params.MaxOutputTokens, 0, minOutput
	if wanted != 0 {
		least = min(least, wanted)
	}
	w, err := s.hold(func() reservation {
		out, req.BoundBy = s.r.room(input, wanted, price)
		out = max(out, least)
		return worst(input, out, price)
	})
	req.Params.MaxOutputTokens, req.Bounded = out, out != wanted
	return w, err
}

// requestBytes is about the size of a request on the wire.
func requestBytes(req *model.Request) int {
	n := 0
	for _, m := range req.Messages {
		n += m.Text.Len() + 24
		for _, c := range m.Calls {
			n += len(c.Name) + len(c.Args) + len(c.Opaque) + 48
		}
	}
	for _, t := range req.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Input) + 64
	}
	if req.Schema != nil {
		n += len(req.Schema.Schema)
	}
	return n
}

func (s *scope) modelEffect(at attempt, m *boundModel, req *model.Request) kernel.Effect[*model.Reply] {
	llm := m.choose(req)
	name := at.path()
	e := kernel.Effect[*model.Reply]{Name: name, Class: journal.Read, Layer: LayerLLM, Detail: req, Drifted: s.drifted, Once: req.Metered}
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
			return nil, failure(&model.Error{Kind: model.NotFound, Message: "llm " + m.spec.Name + " is not connected"}, mask{}, false)
		}
		if me := at.begin(s.r.retries); me != nil {
			return nil, failure(me, mask{}, false)
		}
		call := *req
		call.Key = at.key(key)
		masked := mask{s.r.host.Secrets}
		to, rest := masked.deltas(stream)
		ctx = model.WithRetries(ctx, s.r.retries)
		if s.r.emit.on() {
			ctx = model.WithRetryNotice(ctx, func(e model.RetryEvent) {
				send(retrying(engine.Event{Type: engine.ModelRetrying, Model: m.spec.Name, Role: req.Role}, e, masked))
			})
		}
		reply, err := llm.Generate(ctx, &call, to)
		rest()
		if err != nil {
			return nil, failure(err, masked, req.Metered)
		}
		return masked.reply(reply), nil
	}
	return e
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

func joinPath(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "/" + b
}

// failure makes an error of a model one that keeps its type in a journal, and
// whether a budget pays for the call.
func failure(err error, masked mask, metered bool) error {
	var me *model.Error
	if !errors.As(err, &me) {
		me = &model.Error{Kind: model.NetworkError, Message: err.Error()}
		if errors.Is(err, context.DeadlineExceeded) {
			me = &model.Error{Kind: model.CallTimeout, Message: "the call took longer than its timeout"}
		}
	}
	kept := *masked.failed(me)
	kept.Charged = metered && me.MaybeBilled()
	data, _ := json.Marshal(kept)
	return &journal.Failure{Code: "model", Message: kept.Error(), Data: data}
}

// keptModelError is the error that failure made what a journal keeps.
func keptModelError(f *journal.Failure) *model.Error {
	me := &model.Error{Kind: model.BadReply, Message: f.Message}
	if len(f.Data) > 0 && json.Unmarshal(f.Data, me) != nil {
		me.Message = f.Message
	}
	return me
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

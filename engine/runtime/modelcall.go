package runtime

import (
	"errors"
	"fmt"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/attachment"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/modelrecord"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tracecontext"
)

// modelStage is one stage between a node and an LLM. Each stage does one thing and passes
// the query on.
type modelStage interface {
	ask(s *scope, q *modelQuery) (*model.Reply, error)
}

// modelChain lists the stages in order: fallback LLMs, retries of lost calls, facts and
// events, budget, and the journaled effect. Inside the effect, redact.Model masks the
// provider's reply.
var modelChain modelStage = withFallback{withRetry{withRecord{withBudget{journaledModel{}}}}}

// modelQuery is one call on its way through the stages.
type modelQuery struct {
	call     model.Call
	nth      int // number of the call within its role and step, from 1
	unknown  int // attempts with an unknown outcome
	attempt  attempt
	llm      boundModel
	request  *request // of the current attempt
	first    request  // of the first attempt, for one allocation instead of two
	reserved reservation
	started  time.Duration // active time of the run at the start of the call
}

// request is a request as the run sees it, with what its effect needs to perform it.
type request struct {
	model.Request

	site    *site
	llm     model.Model // nil = not connected
	bound   *boundModel
	attempt attempt
	streams bool
	notify  func(engine.Event) // sends transient events of the call; nil = no sink observes it
	spans   *tracecontext.Run  // see scope.outgoing
	span    string
	sent    model.Request // what the model gets
}

// Model implements Scope.
func (s *scope) Model(name string, c model.Call) (*model.Reply, error) {
	r := s.r
	key := callKey{c.Role, ""}
	if c.PerStep {
		key.step = c.StepID
	}
	r.calls[key]++
	m, ok := r.models[c.LLM]
	if !ok {
		return nil, stop.Fail(stop.Internal, "llms", "llm %q is not in the program", c.LLM)
	}
	reply, err := modelChain.ask(s, &modelQuery{call: c, nth: r.calls[key], attempt: attempt{Name: name}, llm: m})
	if err != nil {
		return nil, err
	}
	if err := s.boundary(name, "reply"); err != nil {
		return nil, err
	}
	return reply, nil
}

// withFallback tries the LLMs of fallback in order, as long as the error allows it.
type withFallback struct{ next modelStage }

func (f withFallback) ask(s *scope, q *modelQuery) (*model.Reply, error) {
	name, others := q.attempt.Name, q.llm.spec.Fallback
	q.llm.hasFallback = len(others) > 0
	reply, err := f.next.ask(s, q)
	for i, other := range others {
		var me *model.Error
		if err == nil || !errors.As(err, &me) || !me.AllowsFallback() {
			break
		}
		s.Record(engine.WarningAdded{Text: fmt.Sprintf("llm %s failed, so %s is used instead: %s", q.call.LLM, other, me), Repair: engine.FellBack})
		m := s.r.models[other]
		m.hasFallback = i+1 < len(others)
		q.llm, q.attempt, q.unknown = m, attempt{Name: fmt.Sprintf("%s.fallback.%d", name, i+1)}, 0
		reply, err = f.next.ask(s, q)
	}
	return reply, err
}

// withRecord builds the request, and records the usage and the reply. A model's error is
// returned as *journal.Failure.
type withRecord struct{ next modelStage }

func (w withRecord) ask(s *scope, q *modelQuery) (*model.Reply, error) {
	if err := s.halted(); err != nil {
		return nil, err
	}
	q.makeRequest(s.messages(q))
	if s.r.traced() && q.attempt.Nth == 0 {
		s.r.trace(Requested{&q.request.Request})
	}
	reply, err := w.next.ask(s, q)
	if err != nil {
		s.r.failedLLMPath = q.llm.spec.Path
		s.reportFailure(q, err)
		return nil, err
	}
	s.recordReply(q, reply)
	return reply, nil
}

// reportFailure emits the event of a call that ended without a reply.
func (s *scope) reportFailure(q *modelQuery, err error) {
	f, failed := errors.AsType[*journal.Failure](err)
	if !failed || !s.r.emit.enabled() {
		return
	}
	why, status := callError(f, q.reserved.held), engine.StatusFailed
	if why.Kind == model.Interrupted {
		status = string(model.Interrupted)
	}
	ev := q.event(engine.ModelCompleted)
	ev.Status, ev.Error, ev.Duration = status, why, engine.Milliseconds(s.k.Now()-q.started)
	s.event(ev)
}

// event returns an event of a query, with what all of its events have.
func (q *modelQuery) event(t engine.EventType) engine.Event {
	spec := q.llm.spec
	return engine.Event{
		Type: t, Path: q.attempt.path(), Model: spec.Name, Role: q.call.Role, Step: stepRef(&q.call),
		Provider: spec.Provider, RequestModel: spec.Params.Model, Reserved: q.reserved.tokens,
	}
}

// callError returns why a call failed. metered reports that a budget pays for the call.
func callError(f *journal.Failure, metered bool) *engine.CallError {
	if len(f.Data) == 0 {
		return &engine.CallError{Kind: model.ErrorKind(f.Code), Message: f.Message, Charged: metered && f.Code == kernel.FailureUnknown}
	}
	me := modelrecord.DecodeError(f)
	return &engine.CallError{Kind: me.Kind, Message: me.Message, Status: me.Status, Attempts: me.Attempts, Charged: me.Charged}
}

// messages returns the messages of a call, with the files of the run if it gets them.
func (s *scope) messages(q *modelQuery) []model.Message {
	files := s.r.root().input.Attachments
	if !q.call.Files || len(files) == 0 || len(q.llm.spec.Accepts) == 0 {
		return q.call.Messages
	}
	return attachment.Attach(q.call.Messages, files, q.llm.spec.Accepts, q.llm.spec.FileSupport())
}

// makeRequest builds the request of the next attempt with these messages.
func (q *modelQuery) makeRequest(messages []model.Message) {
	if q.request == nil {
		q.request = &q.first
	} else { // earlier requests may be in use
		q.request = &request{}
	}
	c := &q.call
	q.request.Request = model.Request{
		Role: c.Role, Call: q.nth, Step: c.Step, Messages: messages, Tools: c.Tools,
		ParallelTools: c.Parallel, Schema: c.Schema, Params: q.llm.spec.Params, Fallback: q.llm.hasFallback, PriorAttempts: q.attempt.Requests,
	}
}

// recordReply records the usage of a reply and emits its event.
func (s *scope) recordReply(q *modelQuery, reply *model.Reply) {
	r, c, spec := s.r, &q.call, q.llm.spec
	if q.request.Bounded && reply.Stop == model.MaxTokens {
		reply.Bound = &model.OutputBound{Tokens: q.request.Params.MaxOutputTokens, Limit: q.request.BoundBy}
	}
	s.checkReply(spec.Name, c.Role, reply)
	r.lastReplies.recordReply(s, c, reply)
	cost := spec.Cost.Of(reply.Usage)
	s.Record(engine.ModelCalled{Model: spec.Name, Tokens: reply.Usage, Cost: cost, Latency: reply.Latency})
	if r.emit.enabled() {
		ev := q.event(engine.ModelCompleted)
		ev.Usage, ev.CostUSD, ev.Status = &reply.Usage, cost, string(reply.Stop)
		ev.Duration, ev.FirstToken = engine.Milliseconds(s.k.Now()-q.started), engine.Milliseconds(reply.FirstToken)
		ev.Latency = engine.Milliseconds(reply.Latency)
		ev.ResponseModel, ev.ResponseID, ev.Attempts = reply.Model, reply.ID, reply.Attempts
		ev.Message, ev.Reply = &model.Message{Role: model.Assistant, Text: replyText(reply.Text), Calls: reply.Calls}, reply
		s.event(ev)
	}
}

// checkReply records warnings about what a reply reveals of its server.
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

// warnOnce records a warning about an LLM once per tree of runs.
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

func stepRef(c *model.Call) *engine.StepEvent {
	if c.StepID == "" {
		return nil
	}
	return &engine.StepEvent{ID: c.StepID, Goal: c.Step, Status: plan.Running}
}

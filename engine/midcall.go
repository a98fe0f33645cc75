package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// maxAsked bounds what a tool may ask people in the middle of one call.
const maxAsked = 20

var (
	// ErrNobody says that a question in the middle of a call has no answer:
	// nobody is there.
	ErrNobody = errors.New("nobody is there to answer")
	// ErrAsking ends a call whose question is put to a person: the tool is
	// called again with the answer.
	ErrAsking = errors.New("the call goes on once a person has answered")
)

// exchange is a question of a tool and its answer.
type exchange struct {
	asked    Question
	decision Decision
}

// converse makes the call; where the tool asks in the middle of it, each
// question is one of the journal's, and the tool is called again with what was
// answered so far.
func (c *toolRun) converse() (attempted, error) {
	var said []exchange
	for n := 1; ; n++ {
		name := nth(c.name, "again", n)
		out, err := c.metered(name, said)
		if err != nil || out.Asked == nil {
			return out, err
		}
		if len(said) >= maxAsked {
			return attempted{}, fmt.Errorf("the tool asked more than %d questions in one call", maxAsked)
		}
		c.s.event(Event{Type: ToolInterrupted, Path: c.name, Tool: c.rec.Tool, Args: c.rec.Args})
		d, err := c.s.Ask(nth(c.name+".ask", "", n), *out.Asked)
		if err != nil {
			return attempted{}, err
		}
		said = append(said, exchange{*out.Asked, d})
	}
}

// nth is the name of the n-th effect of a kind: the first has none.
func nth(name, kind string, n int) string {
	switch {
	case n == 1:
		return name
	case kind == "":
		return name + "." + strconv.Itoa(n)
	}
	return name + "." + kind + "." + strconv.Itoa(n-1)
}

// metered performs a part of the call, and pays for what the tool asks of an llm
// meanwhile.
func (c *toolRun) metered(name string, said []exchange) (attempted, error) {
	s, may := c.s, c.tool.sampling
	if may.LLM == "" {
		return kernel.Do(s.k, c.effect(name, said))
	}
	price := s.r.models[may.LLM].spec.Cost
	var held reservation
	if s.r.budgeted() {
		var err error
		if held, err = s.hold(func() reservation { return may.worst(price) }); err != nil {
			return attempted{}, err
		}
		s.charge(name, held)
	}
	out, err := kernel.Do(s.k, c.effect(name, said))
	took := out.tries
	f, failed := errors.AsType[*journal.Failure](err)
	switch {
	case failed && f.Code != kernel.FailureUnknown:
		took = triesOf(f)
	case err != nil: // all of it may have been used
		s.r.settle(held, held)
		return out, err
	}
	s.uncharge(name, held)
	var used reservation
	for _, tokens := range took.Sampled {
		cost := price.Of(tokens)
		used.tokens, used.cost = used.tokens+tokens.Total(), used.cost+cost
		s.Record(ModelCalled{Model: may.LLM, Tokens: tokens, Cost: cost})
	}
	s.r.settle(held, used)
	return out, err
}

// worst is what one call of a tool may take of its llm.
func (m Sampling) worst(price *Cost) reservation {
	w := worst(0, m.MaxTokens, price)
	if in := worst(m.MaxTokens, 0, price); in.cost > w.cost {
		w = in
	}
	return reservation{tokens: w.tokens * m.MaxCalls, cost: w.cost * float64(m.MaxCalls)}
}

// midcall is what a tool can do in the middle of one part of a call.
type midcall struct {
	r    *run
	tool *HostTool
	call *Call
	said []exchange

	mu      sync.Mutex
	next    int       // which of said is given next
	asked   *Question // ends the part
	end     context.CancelCauseFunc
	clock   *time.Timer
	timeout time.Duration
	began   time.Time
	used    []Tokens
	samples int
}

// begin starts an attempt, which has so much time; that in which it waits for
// people is not counted.
func (m *midcall) begin(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	m.next, m.asked = 0, nil
	if m.tool.server == "" {
		m.call.Ask = func(context.Context, Question) (Decision, error) { return Decision{}, ErrNobody }
		return context.WithTimeout(ctx, timeout)
	}
	m.call.Ask = m.ask
	if m.tool.sampling.LLM != "" {
		m.call.Sample = m.sample
	}
	ctx, m.end = context.WithCancelCause(ctx)
	end := m.end
	m.timeout, m.began = timeout, time.Now()
	m.clock = time.AfterFunc(timeout, func() { end(context.DeadlineExceeded) })
	return ctx, func() { m.clock.Stop(); end(nil) }
}

// ask is Call.Ask.
func (m *midcall) ask(ctx context.Context, q Question) (Decision, error) {
	q.Tool, q.Path = m.tool.Spec.Name, ""
	q.Question, q.Args = m.tool.mask.text(q.Question), m.tool.mask.raw(q.Args)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.asked != nil:
		return Decision{}, ErrAsking
	case m.next < len(m.said) && m.said[m.next].asked.same(q):
		m.next++
		return m.said[m.next-1].decision, nil
	case m.tool.effect() == WriteEffect:
		return m.inPlace(ctx, q)
	}
	m.asked = &q
	m.end(ErrAsking)
	return Decision{}, ErrAsking
}

func (q Question) same(o Question) bool {
	return q.Kind == o.Kind && q.Question == o.Question && string(q.Args) == string(o.Args)
}

// inPlace asks whoever is there, while the call waits.
func (m *midcall) inPlace(ctx context.Context, q Question) (Decision, error) {
	people := m.r.host.People
	if people == nil {
		return Decision{}, ErrNobody
	}
	left := m.timeout - time.Since(m.began)
	if !m.clock.Stop() {
		return Decision{}, context.DeadlineExceeded
	}
	defer func() { m.timeout, m.began = left, time.Now(); m.clock.Reset(max(left, time.Second)) }()
	q.Path = m.call.Path
	raw, err := people.Ask(ctx, q)
	if err != nil {
		return Decision{}, fmt.Errorf("%w: %w", ErrNobody, err)
	}
	var d Decision
	if err := json.Unmarshal(raw, &d); err != nil {
		return Decision{}, fmt.Errorf("%w: the answer cannot be read: %w", ErrNobody, err)
	}
	return d, nil
}

// sample is Call.Sample.
func (m *midcall) sample(ctx context.Context, messages []Message, maxTokens int) (*Reply, error) {
	may := m.tool.sampling
	bound := m.r.models[may.LLM]
	m.mu.Lock()
	m.samples++
	nth := m.samples
	m.mu.Unlock()
	if nth > may.MaxCalls {
		return nil, fmt.Errorf("a call may ask the llm %s %d times", may.LLM, may.MaxCalls)
	}
	req := &Request{Role: "tool", Call: nth, Messages: messages, Params: bound.spec.Params}
	room := may.MaxTokens - requestBytes(req)/2
	if room < minOutput {
		return nil, fmt.Errorf("what the tool asks of the llm %s is longer than its %d tokens allow", may.LLM, may.MaxTokens)
	}
	req.Params.MaxOutputTokens = room
	if maxTokens > 0 {
		req.Params.MaxOutputTokens = min(room, maxTokens)
	}
	model := bound.choose(req)
	if model == nil {
		return nil, fmt.Errorf("llm %s is not connected", may.LLM)
	}
	reply, err := model.Generate(WithRetries(ctx, m.r.retries), req, nil)
	if err != nil {
		if me := modelFailure(err); me == nil || me.Billable() {
			m.spent(Tokens{Output: may.MaxTokens})
		}
		return nil, err
	}
	m.spent(reply.Usage)
	return m.tool.mask.reply(reply), nil
}

func (m *midcall) spent(t Tokens) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used = append(m.used, t)
}

// sampled is what the call has used of its llm so far.
func (m *midcall) sampled() []Tokens {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used
}

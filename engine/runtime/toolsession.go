package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
)

// maxUnheard is how many answers in one call a tool may ignore when it is called again.
const maxUnheard = 3

// errOver says that a tool goes on after its call has ended.
var errOver = errors.New("the call is over")

// exchange is a question of a tool and its answer.
type exchange struct {
	asked    interrupt.Question
	decision interrupt.Decision
}

// converse makes the call; where the tool asks in the middle of it, each
// question is one of the journal's, and the tool is called again with what was
// answered so far, or with the vectors that it wants paid for.
func (c *toolRun) converse() (attempted, error) {
	var said []exchange
	granted, grants := 0, 0
	for n := 1; ; n++ {
		out, err := c.metered(nth(c.name, "again", n), said, granted)
		if err != nil || out.Asked == nil && out.Wants == 0 {
			return out, err
		}
		if granted = 0; out.Wants > 0 {
			if granted, err = c.granted(out.Wants); err != nil {
				return out, err
			}
			if grants++; grants > maxGrants {
				return out, ungrantable()
			}
			continue
		}
		if why := endless(len(said), out.Heard); why != "" {
			return out, &journal.Failure{Code: failedTool, Message: why}
		}
		c.s.event(engine.Event{Type: engine.ToolInterrupted, Path: c.name, Tool: c.rec.Tool, Args: c.rec.Args, Step: c.step()})
		d, err := c.s.Ask(nth(c.name+".ask", "", n), *out.Asked)
		if err != nil {
			return attempted{}, err
		}
		said = append(said, exchange{*out.Asked, d})
	}
}

// endless says why a tool that was given answers, and took some of them, is not
// answered any more, or "".
func endless(said, heard int) string {
	switch {
	case said-heard >= maxUnheard:
		return "the tool asks something else each time that it is called with the answers so far, so its questions cannot be answered"
	case said >= engine.MaxQuestions:
		return fmt.Sprintf("the tool asked %d questions in one call, and wanted to ask on", said)
	}
	return ""
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

// part is a call, or what of it lies between two questions, as an effect
// performs it: beside the run.
type part struct {
	r       *run
	tool    *BoundTool
	call    tool.Call
	emit    func(engine.Event) // sends transient events of the call
	shown   <-chan struct{}    // closed once the sinks know of the call; nil = it asks nobody in place
	said    []exchange
	metered bool // a budget pays for what the tool asks of an llm,
	allowed int  // and for vectors of so many tokens
	meter   meter
}

// midcall is what a tool can do in the middle of one attempt of a part.
type midcall struct {
	*part
	ctx context.Context
	end context.CancelCauseFunc

	mu    sync.Mutex
	taken []bool              // of said: the tool has that answer
	asked *interrupt.Question // ends the part
	over  bool
	many  int // questions that were answered in place
	sent  int // bytes of texts for vectors
	wants int // tokens of vectors, for want of which the part ends

	// The attempt's time: that in which it waits for people is not counted.
	clock   *time.Timer
	left    time.Duration // when the clock began to run
	began   time.Time
	waiting int
}

// begin starts an attempt.
func (p *part) begin(ctx context.Context, timeout time.Duration) *midcall {
	m := &midcall{part: p, taken: make([]bool, len(p.said)), left: timeout, began: time.Now()}
	m.ctx, m.end = context.WithCancelCause(ctx)
	m.clock = time.AfterFunc(timeout, func() { m.end(context.DeadlineExceeded) })
	return m
}

// made is the attempt as the tool is called.
func (m *midcall) made() *tool.Call {
	call := m.call
	call.Ask = m.ask
	if m.tool.sampling.LLM != "" {
		call.Sample = m.sample
	}
	if m.tool.vectors != "" {
		call.Embed = m.embed
	}
	return &call
}

// llmContext is ctx for a call of an llm by the tool.
func (m *midcall) llmContext(ctx context.Context, llm string) context.Context {
	return model.WithRetryNotice(model.WithRetries(ctx, m.r.retries), func(e model.RetryEvent) {
		m.emit(retrying(engine.Event{Type: engine.ModelRetrying, Model: llm, Role: "tool"}, e, m.tool.mask))
	})
}

// close ends the attempt: question is what it wanted to know, heard how many
// answers to earlier ones it took, and wants the tokens of vectors that it lacked.
func (m *midcall) close() (question *interrupt.Question, heard, wants int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.over = true
	m.clock.Stop()
	m.end(errOver)
	for _, taken := range m.taken {
		if taken {
			heard++
		}
	}
	return m.asked, heard, m.wants
}

// ask is Call.Ask.
func (m *midcall) ask(ctx context.Context, q interrupt.Question) (interrupt.Decision, error) {
	if q.Kind == "" {
		q.Kind = interrupt.Elicitation
	}
	q.Tool, q.Path = m.tool.Info().Name, ""
	q.Question, q.Args = strings.ToValidUTF8(m.tool.mask.Text(q.Question), "\uFFFD"), m.tool.mask.JSON(q.Args)
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.known(q)
	switch {
	case m.over:
		return interrupt.Decision{}, errOver
	case m.asked != nil:
		return interrupt.Decision{}, tool.ErrAsking
	case m.wants > 0:
		return interrupt.Decision{}, errUngranted
	case i >= 0:
		m.taken[i] = true
		return m.said[i].decision, nil
	case m.tool.effect() == tool.WriteEffect:
		return m.inPlace(ctx, q)
	}
	m.asked = &q
	m.end(tool.ErrAsking)
	return interrupt.Decision{}, tool.ErrAsking
}

// known is the first answer to a question that the tool does not have yet, or -1.
func (m *midcall) known(q interrupt.Question) int {
	for i, x := range m.said {
		if !m.taken[i] && sameQuestion(x.asked, q) {
			return i
		}
	}
	return -1
}

// same says whether two questions are one; a journal may have written the
// arguments in another way.
func sameQuestion(q, o interrupt.Question) bool {
	return q.Kind == o.Kind && q.Question == o.Question && string(jsonvalue.Encode(jsonvalue.Decode(q.Args))) == string(jsonvalue.Encode(jsonvalue.Decode(o.Args)))
}

// inPlace asks whoever is there, while the call waits: one that writes is not
// made twice. It is called, and returns, with m.mu held.
func (m *midcall) inPlace(ctx context.Context, q interrupt.Question) (interrupt.Decision, error) {
	people := m.r.root().host.People
	m.many++
	switch {
	case people == nil:
		return interrupt.Decision{}, tool.ErrNobody
	case m.many > engine.MaxQuestions:
		return interrupt.Decision{}, fmt.Errorf("%w: a call may ask %d questions", tool.ErrNobody, engine.MaxQuestions)
	case !m.pause():
		return interrupt.Decision{}, context.DeadlineExceeded
	}
	defer m.goOn()
	m.mu.Unlock()
	defer m.mu.Lock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(m.ctx, cancel)()
	select {
	case <-m.shown:
	case <-ctx.Done():
		return interrupt.Decision{}, fmt.Errorf("%w: %w", tool.ErrNobody, ctx.Err())
	}
	q.Path = m.call.Path
	raw, err := people.Ask(ctx, q)
	if err != nil {
		return interrupt.Decision{}, fmt.Errorf("%w: %w", tool.ErrNobody, err)
	}
	var d interrupt.Decision
	if err := json.Unmarshal(raw, &d); err != nil {
		return interrupt.Decision{}, fmt.Errorf("%w: the answer cannot be read: %w", tool.ErrNobody, err)
	}
	if err := kernel.RecordAnswer(m.ctx, m.tool.mask.JSON(jsonvalue.Encode(midAnswer{q, d}))); err != nil {
		return interrupt.Decision{}, fmt.Errorf("%w: the answer cannot be kept: %w", tool.ErrNobody, err)
	}
	return d, nil
}

// pause stops the attempt's clock, if its time is not over.
func (m *midcall) pause() bool {
	if m.waiting == 0 && !m.clock.Stop() {
		return false
	}
	if m.waiting++; m.waiting == 1 {
		m.left -= time.Since(m.began)
	}
	return true
}

// goOn lets the clock run again once nobody is waited for.
func (m *midcall) goOn() {
	if m.waiting--; m.waiting == 0 && !m.over {
		m.began = time.Now()
		m.clock.Reset(max(m.left, 0))
	}
}

package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/engine/tracecontext"
)

// maxIgnoredAnswers is how many answers a repeated call may ignore.
const maxIgnoredAnswers = 3

// errOver is returned to a tool that continues after its call has ended.
var errOver = errors.New("the call is over")

// qa is a question of a tool and its answer.
type qa struct {
	Question interrupt.Question `json:"question"`
	Decision interrupt.Decision `json:"decision"`
}

// runWithQuestions makes the call. If the tool asks a question, the question is journaled
// and the tool is called again with the answers so far; likewise if it needs an embedding
// grant.
func (c *toolRun) runWithQuestions() (segmentResult, error) {
	var answers []qa
	granted, grants := 0, 0
	for n := 1; ; n++ {
		out, err := c.performSegment(nth(c.name, "again", n), answers, granted)
		if err != nil || out.Question == nil && out.WantTokens == 0 {
			return out, err
		}
		if granted = 0; out.WantTokens > 0 {
			if granted, err = c.grantTokens(out.WantTokens); err != nil {
				return out, err
			}
			if grants++; grants > maxGrants {
				return out, grantLimitError()
			}
			continue
		}
		if why := tooManyQuestions(len(answers), out.AnswersUsed); why != "" {
			return out, &journal.Failure{Code: failedTool, Message: why}
		}
		if answers, err = c.askQuestion(answers, n, out.Question); err != nil {
			return segmentResult{}, err
		}
	}
}

// askQuestion asks the question of the n-th segment and adds it to answers.
func (c *toolRun) askQuestion(answers []qa, n int, q *interrupt.Question) ([]qa, error) {
	c.s.event(engine.Event{Type: engine.ToolInterrupted, Path: c.name, Tool: c.rec.Tool, Args: c.rec.Args, Step: c.step()})
	d, err := c.s.askAbout(nth(c.name+".ask", "", n), q.Restrict(c.tool.rule()), c.asked())
	return append(answers, qa{*q, d}), err
}

// tooManyQuestions returns why a tool's further questions are not answered, or "".
func tooManyQuestions(asked, used int) string {
	switch {
	case asked-used >= maxIgnoredAnswers:
		return "the tool asks different questions each time that it receives the same answers, so its questions cannot be answered"
	case asked >= engine.MaxQuestions:
		return fmt.Sprintf("the tool asked %d questions in one call, which is the maximum", asked)
	}
	return ""
}

// nth returns the name of the n-th effect of a kind; the first has no suffix.
func nth(name, kind string, n int) string {
	switch {
	case n == 1:
		return name
	case kind == "":
		return name + "." + strconv.Itoa(n)
	}
	return name + "." + kind + "." + strconv.Itoa(n-1)
}

// callSegment is a call, or its part between two questions, as an effect performs it
// concurrently with the run.
type callSegment struct {
	toolWork
	site       *site
	tool       *BoundTool
	path       string             // of the effect
	emit       func(engine.Event) // sends transient events of the call
	observed   bool               // somebody receives them
	asks       *run               // whose humans a write may ask inline; nil = it cannot
	announced  <-chan struct{}    // closed once the sinks know of the call, if it asks inline
	spans      *tracecontext.Run  // see scope.outgoing
	span       string
	remote     *remoteCall
	dimensions *atomic.Int32 // of the embeddings made

	call  tool.Call
	meter meter
}

// toolSession serves a tool's callbacks during one attempt of a segment.
type toolSession struct {
	*callSegment
	prepared tool.Call // the call, with the callbacks of the attempt
	ctx      context.Context
	end      context.CancelCauseFunc

	mu              sync.Mutex
	delivered       []bool              // which of answers the tool has received
	question        *interrupt.Question // question that ended the segment
	closed          bool
	inlineQuestions int // questions answered inline
	sentBytes       int // bytes of texts sent for embedding
	wantTokens      int // embedding tokens whose lack ended the segment

	// The timeout of the attempt, which does not run while humans are asked.
	clock     *time.Timer
	remaining time.Duration // at the last start of the timer
	startedAt time.Time
	waiters   int
}

// begin starts an attempt.
func (p *callSegment) begin(ctx context.Context, timeout time.Duration) *toolSession {
	m := &toolSession{callSegment: p, delivered: make([]bool, len(p.Answers)), remaining: timeout, startedAt: time.Now()}
	m.ctx, m.end = context.WithCancelCause(ctx)
	m.clock = time.AfterFunc(timeout, func() { m.end(context.DeadlineExceeded) })
	return m
}

// toolCall returns the call with the callbacks of the attempt.
func (m *toolSession) toolCall() *tool.Call {
	m.prepared = m.call
	m.prepared.Ask = m.ask
	if m.tool.sampling.LLM != "" {
		m.prepared.Sample = m.sample
	}
	if m.tool.vectorLLM != "" {
		m.prepared.Embed = m.embed
	}
	return &m.prepared
}

// llmContext returns ctx for an LLM call of the tool.
func (m *toolSession) llmContext(ctx context.Context, llm string) context.Context {
	return model.WithRetryNotice(ctx, func(e model.RetryEvent) {
		m.emit(retryEvent(engine.Event{Type: engine.ModelRetrying, Model: llm, Role: "tool"}, e, m.tool.mask))
	})
}

// close ends the attempt. It returns the question and embedding tokens that ended it, if
// any, and how many earlier answers the tool received.
func (m *toolSession) close() (question *interrupt.Question, used, wants int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.clock.Stop()
	m.end(errOver)
	for _, taken := range m.delivered {
		if taken {
			used++
		}
	}
	return m.question, used, m.wantTokens
}

// ask implements tool.Call.Ask.
func (m *toolSession) ask(ctx context.Context, q interrupt.Question) (interrupt.Decision, error) {
	if q.Kind == "" {
		q.Kind = interrupt.Elicitation
	}
	q.Tool, q.Path = m.tool.Info().Name, ""
	q = q.Restrict(m.tool.rule())
	q.Question, q.Args = strings.ToValidUTF8(m.tool.mask.Text(q.Question), "\uFFFD"), m.tool.mask.JSON(q.Args)
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.findAnswer(q)
	switch {
	case m.closed:
		return interrupt.Decision{}, errOver
	case m.question != nil:
		return interrupt.Decision{}, tool.ErrQuestionAsked
	case m.wantTokens > 0:
		return interrupt.Decision{}, errNeedsGrant
	case i >= 0:
		m.delivered[i] = true
		return m.Answers[i].Decision, nil
	case m.tool.effect() == tool.WriteEffect:
		return m.askInline(ctx, q)
	}
	m.question = &q
	m.end(tool.ErrQuestionAsked)
	return interrupt.Decision{}, tool.ErrQuestionAsked
}

// findAnswer returns the index of the first answer to q that the tool has not received
// yet, or -1.
func (m *toolSession) findAnswer(q interrupt.Question) int {
	for i, x := range m.Answers {
		if !m.delivered[i] && sameQuestion(x.Question, q) {
			return i
		}
	}
	return -1
}

// sameQuestion compares two questions; a journal may have formatted the arguments
// differently.
func sameQuestion(q, o interrupt.Question) bool {
	return q.Kind == o.Kind && q.Question == o.Question && string(jsonvalue.Encode(jsonvalue.Decode(q.Args))) == string(jsonvalue.Encode(jsonvalue.Decode(o.Args)))
}

// askInline asks during the call, because a write is never called twice. It is called and
// returns with m.mu held.
func (m *toolSession) askInline(ctx context.Context, q interrupt.Question) (interrupt.Decision, error) {
	m.inlineQuestions++
	switch {
	case m.asks == nil:
		return interrupt.Decision{}, tool.ErrNoResponder
	case m.inlineQuestions > engine.MaxQuestions:
		return interrupt.Decision{}, fmt.Errorf("%w: a call may ask %d questions", tool.ErrNoResponder, engine.MaxQuestions)
	case !m.pauseTimer():
		return interrupt.Decision{}, context.DeadlineExceeded
	}
	defer m.resumeTimer()
	m.mu.Unlock()
	defer m.mu.Lock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(m.ctx, cancel)()
	select {
	case <-m.announced:
	case <-ctx.Done():
		return interrupt.Decision{}, fmt.Errorf("%w: %w", tool.ErrNoResponder, ctx.Err())
	}
	q.Path = m.call.Path
	given, err := m.asks.askResponder(ctx, q)
	if err != nil {
		return interrupt.Decision{}, fmt.Errorf("%w: %w", tool.ErrNoResponder, err)
	}
	var d interrupt.Decision
	if err := json.Unmarshal(given.Body, &d); err != nil {
		return interrupt.Decision{}, fmt.Errorf("%w: the answer cannot be read: %w", tool.ErrNoResponder, err)
	}
	given.Body = m.tool.mask.JSON(jsonvalue.Encode(inlineAnswer{q, d}))
	if err := kernel.RecordAnswer(m.ctx, given); err != nil {
		return interrupt.Decision{}, fmt.Errorf("%w: the answer cannot be stored: %w", tool.ErrNoResponder, err)
	}
	if decided := m.asks.opts.Decided; decided != nil {
		decided(q.Path)
	}
	return d, nil
}

// pauseTimer stops the timeout. It returns false if the time is up.
func (m *toolSession) pauseTimer() bool {
	if m.waiters == 0 && !m.clock.Stop() {
		return false
	}
	if m.waiters++; m.waiters == 1 {
		m.remaining -= time.Since(m.startedAt)
	}
	return true
}

// resumeTimer restarts the timeout when no question is open any more.
func (m *toolSession) resumeTimer() {
	if m.waiters--; m.waiters == 0 && !m.closed {
		m.startedAt = time.Now()
		m.clock.Reset(max(m.remaining, 0))
	}
}

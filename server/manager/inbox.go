package manager

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
)

// inbox has the open questions of a live run. It passes each to the first client that
// answers it. A question that no one answers in time stays open in the journal.
type inbox struct {
	parkAfter time.Duration

	mu    sync.Mutex
	open  map[string]*pending
	left  []asked       // not answered in time; only the journal has them once the session ends
	asked chan struct{} // closed while a question waits for an answer
}

var _ engine.SharedResponder = (*inbox)(nil)

// pending is a question that the run waits for.
type pending struct {
	question interrupt.Question
	since    time.Time
	answer   chan given    // gets the first answer
	taken    bool          // answer has it
	decided  chan struct{} // closed once the decision is durable
}

type given struct {
	decision json.RawMessage
	by       engine.Actor
}

func newInbox(parkAfter time.Duration) *inbox {
	return &inbox{parkAfter: parkAfter, open: map[string]*pending{}, asked: make(chan struct{})}
}

var errUnanswered = errors.New("not answered in time")

// Ask implements interrupt.Responder.
func (b *inbox) Ask(ctx context.Context, q interrupt.Question) (json.RawMessage, error) {
	answer, _, err := b.AskShared(ctx, q)
	return answer, err
}

// AskShared implements engine.SharedResponder.
func (b *inbox) AskShared(ctx context.Context, q interrupt.Question) (json.RawMessage, engine.Actor, error) {
	p := &pending{question: q, since: time.Now(), answer: make(chan given, 1), decided: make(chan struct{})}
	b.mu.Lock()
	b.open[q.Path] = p
	b.signal()
	b.mu.Unlock()
	timer := time.NewTimer(b.parkAfter)
	defer timer.Stop()
	err := errUnanswered
	select {
	case g := <-p.answer:
		return g.decision, g.by, nil
	case <-timer.C:
	case <-ctx.Done():
		err = ctx.Err()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case g := <-p.answer: // it came at the last moment
		return g.decision, g.by, nil
	default:
		delete(b.open, q.Path)
		if errors.Is(err, errUnanswered) {
			b.left = append(b.left, asked{q, p.since})
		}
		b.signal()
		return nil, engine.Actor{}, err
	}
}

// signal updates asked. The caller holds mu.
func (b *inbox) signal() {
	waits := false
	for _, p := range b.open {
		waits = waits || !p.taken
	}
	switch closed := isClosed(b.asked); {
	case waits && !closed:
		close(b.asked)
	case !waits && closed:
		b.asked = make(chan struct{})
	}
}

// waiting returns a channel that is closed once a question waits for an answer.
func (b *inbox) waiting() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asked
}

// decided is called once the decision about the effect at path is durable.
func (b *inbox) decided(path string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.open[path]; p != nil {
		close(p.decided)
		delete(b.open, path)
	}
}

// give passes on the answer to an open question, if it is the first one. found is false if
// no question is open at the path.
func (b *inbox) give(path string, digest string, decide func(interrupt.Question) (json.RawMessage, error), by engine.Actor) (p *pending, first bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p = b.open[path]
	if p == nil || p.taken {
		return p, false, nil
	}
	if digest != "" && digest != Digest(p.question) {
		return p, false, errChanged
	}
	decision, err := decide(p.question)
	if err != nil {
		return p, false, err
	}
	p.taken = true
	b.signal()
	p.answer <- given{decision, by}
	return p, true, nil
}

var errChanged = errors.New("the question has changed")

// questions returns the open questions, sorted by path.
func (b *inbox) questions() []asked {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := slices.Clone(b.left)
	for _, p := range b.open {
		if !p.taken {
			out = append(out, asked{p.question, p.since})
		}
	}
	slices.SortFunc(out, func(a, c asked) int { return strings.Compare(a.question.Path, c.question.Path) })
	return out
}

// await makes a decision that the session already has pending until it is durable.
func (b *inbox) await(path string) *pending {
	p := &pending{question: interrupt.Question{Path: path}, taken: true, decided: make(chan struct{})}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open[path] = p
	return p
}

// isDecided reports whether the decision is durable.
func (p *pending) isDecided() bool { return isClosed(p.decided) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

package judge

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"sync"

	"github.com/pexctl/pex/eval/trial"
)

// remembered is how many judgements are kept, the newest.
const remembered = 10_000

type digest [sha256.Size]byte

// memory is the judgements so far, and those that are under way.
type memory struct {
	mu      sync.Mutex
	answers map[digest]*answer
	order   []digest // of those that are done, in a ring
	next    int      // the oldest, once the ring is full
}

// answer is one judgement; what it holds may be read once done is closed.
type answer struct {
	done      chan struct{}
	judgement trial.Judgement
	err       error
}

func newMemory() memory { return memory{answers: map[digest]*answer{}} }

// once gives the judgement of a question: that which is remembered, at no cost,
// or that which ask gives. Who asks meanwhile waits and gets the same, a failure
// too; a failure is not remembered.
func (m *memory) once(ctx context.Context, q trial.Question, ask func() (trial.Judgement, error)) (trial.Judgement, error) {
	key := keyOf(q)
	for {
		a, mine := m.claim(key)
		if mine {
			a.judgement, a.err = ask()
			m.settle(key, a)
			return a.judgement, a.err
		}
		select {
		case <-a.done:
		case <-ctx.Done():
			return trial.Judgement{}, ctx.Err()
		}
		// Whoever asked was called off; that is nothing to us.
		if a.err != nil && ctx.Err() == nil && (errors.Is(a.err, context.Canceled) || errors.Is(a.err, context.DeadlineExceeded)) {
			continue
		}
		return trial.Judgement{Text: a.judgement.Text}, a.err
	}
}

// claim gives the answer to a question; mine says that the caller is to find it.
func (m *memory) claim(key digest) (a *answer, mine bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a := m.answers[key]; a != nil {
		return a, false
	}
	a = &answer{done: make(chan struct{})}
	m.answers[key] = a
	return a, true
}

// settle remembers an answer, or forgets that it was asked for.
func (m *memory) settle(key digest, a *answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(a.done)
	if a.err != nil {
		delete(m.answers, key)
		return
	}
	if len(m.order) < remembered {
		m.order = append(m.order, key)
		return
	}
	delete(m.answers, m.order[m.next])
	m.order[m.next] = key
	m.next = (m.next + 1) % remembered
}

func keyOf(q trial.Question) digest {
	raw, _ := json.Marshal(q) // texts, bytes and a number always marshal
	return sha256.Sum256(raw)
}

package judge

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"sync"

	"github.com/pexctl/pex/eval/trial"
)

// maxCached is the number of cached judgements.
const maxCached = 10_000

type digest [sha256.Size]byte

// cache caches judgements and tracks those in progress.
type cache struct {
	mu      sync.Mutex
	entries map[digest]*entry
	order   []digest // of completed answers, a ring buffer
	next    int      // index of the oldest, once the ring is full
}

// entry is one judgement. Its other fields may be read after done is closed.
type entry struct {
	done      chan struct{}
	judgement trial.Judgement
	err       error
}

func newCache() cache { return cache{entries: map[digest]*entry{}} }

// once returns the judgement of a question: the cached one, without usage, or the result of ask. Concurrent
// callers with the same question wait and get the same result, including an error. Errors are not cached.
func (m *cache) once(ctx context.Context, q trial.Question, ask func() (trial.Judgement, error)) (trial.Judgement, error) {
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
		// The call was cancelled by another caller's context; try again.
		if a.err != nil && ctx.Err() == nil && (errors.Is(a.err, context.Canceled) || errors.Is(a.err, context.DeadlineExceeded)) {
			continue
		}
		return trial.Judgement{Text: a.judgement.Text}, a.err
	}
}

// claim returns the answer to a question. mine reports that the caller must compute it.
func (m *cache) claim(key digest) (a *entry, mine bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a := m.entries[key]; a != nil {
		return a, false
	}
	a = &entry{done: make(chan struct{})}
	m.entries[key] = a
	return a, true
}

// settle caches an answer, or removes it if it failed.
func (m *cache) settle(key digest, a *entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(a.done)
	if a.err != nil {
		delete(m.entries, key)
		return
	}
	if len(m.order) < maxCached {
		m.order = append(m.order, key)
		return
	}
	delete(m.entries, m.order[m.next])
	m.order[m.next] = key
	m.next = (m.next + 1) % maxCached
}

func keyOf(q trial.Question) digest {
	raw, _ := json.Marshal(q) // cannot fail: strings, bytes and a number
	return sha256.Sum256(raw)
}

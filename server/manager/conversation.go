package manager

import (
	"context"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
)

// ConversationChanged returns a channel that is closed when a run of a conversation starts or
// continues in this process.
func (m *Manager) ConversationChanged(id string) <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.changed[id]
	if !ok {
		c = make(chan struct{})
		m.changed[id] = c
	}
	return c
}

// announce tells the watchers of a conversation that a run of it starts or continues.
func (m *Manager) announce(in engine.Input) {
	id := runtime.ConversationID(in)
	m.mu.Lock()
	defer m.mu.Unlock()
	if c, ok := m.changed[id]; ok {
		close(c)
		delete(m.changed, id)
	}
}

// maxReceived bounds the runs whose messages are kept.
const maxReceived = 10_000

// received has the messages of runs that have ended, by run.
type received struct {
	ended map[string]receivedBy
}

// receivedBy is the messages of a run in a state.
type receivedBy struct {
	state stop.Reason
	took  int64
	texts map[string]string // by id
}

// Received returns the texts of the messages that an ended run received, by id. The caller must
// not change them.
func (m *Manager) Received(sum runs.Summary) (map[string]string, error) {
	m.mu.Lock()
	known, ok := m.received.ended[sum.Run]
	m.mu.Unlock()
	if ok && known.state == sum.StopReason && known.took == sum.DurationMS {
		return known.texts, nil
	}
	texts, err := m.o.Runs.Received(sum.Run)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.received.ended == nil || len(m.received.ended) >= maxReceived {
		m.received.ended = map[string]receivedBy{}
	}
	m.received.ended[sum.Run] = receivedBy{sum.StopReason, sum.DurationMS, texts}
	return texts, nil
}

// turnLock is held by one request that may start a turn of a conversation.
type turnLock struct {
	held  chan struct{} // has an element while the lock is held
	users int
}

// LockTurns returns once no other request holds the lock of a conversation. Holders decide one
// at a time whether a message starts a turn. unlock must be called; the error is that of ctx.
func (m *Manager) LockTurns(ctx context.Context, conversation string) (unlock func(), err error) {
	m.mu.Lock()
	l, ok := m.turns[conversation]
	if !ok {
		l = &turnLock{held: make(chan struct{}, 1)}
		m.turns[conversation] = l
	}
	l.users++
	m.mu.Unlock()
	leave := func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(m.turns, conversation)
		}
	}
	select {
	case l.held <- struct{}{}:
		return func() {
			<-l.held
			leave()
		}, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}

package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/pexctl/pex/engine/kernel"
)

// inPlace asks whoever is there, while the call waits: one that writes is not
// made twice. It is called, and returns, with m.mu held.
func (m *midcall) inPlace(ctx context.Context, q Question) (Decision, error) {
	people := m.r.root().host.People
	m.many++
	switch {
	case people == nil:
		return Decision{}, ErrNobody
	case m.many > MaxQuestions:
		return Decision{}, fmt.Errorf("%w: a call may ask %d questions", ErrNobody, MaxQuestions)
	case !m.pause():
		return Decision{}, context.DeadlineExceeded
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
		return Decision{}, fmt.Errorf("%w: %w", ErrNobody, ctx.Err())
	}
	q.Path = m.call.Path
	raw, err := people.Ask(ctx, q)
	if err != nil {
		return Decision{}, fmt.Errorf("%w: %w", ErrNobody, err)
	}
	var d Decision
	if err := json.Unmarshal(raw, &d); err != nil {
		return Decision{}, fmt.Errorf("%w: the answer cannot be read: %w", ErrNobody, err)
	}
	if err := kernel.RecordAnswer(m.ctx, m.tool.mask.raw(encoded(midAnswer{q, d}))); err != nil {
		return Decision{}, fmt.Errorf("%w: the answer cannot be kept: %w", ErrNobody, err)
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

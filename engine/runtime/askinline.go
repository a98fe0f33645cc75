package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/tool"
)

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

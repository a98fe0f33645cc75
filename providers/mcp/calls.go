package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/pexctl/pex/engine/tool"
)

const (
	// attributionTimeout is how long a question waits until its call can be determined.
	attributionTimeout = 5 * time.Second
	// progressInterval and progressBurst limit the progress messages of a call.
	progressInterval = 100 * time.Millisecond
	progressBurst    = 20
	maxProgressText  = 2000 // bytes
)

// calls are the calls in flight in a session.
type calls struct {
	mu        sync.Mutex
	open      map[string]*openCall
	next      int
	serial    bool          // the server's questions do not name their call: run one call at a time
	waiting   int           // questions not attributed to a call yet
	ambiguous bool          // several calls asked at once, so attribution fails
	changed   chan struct{} // closed and replaced when any of the above changes
	stopped   bool
}

// openCall is one call in flight.
type openCall struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	call   *tool.Call
	token  string
	askMu  sync.Mutex // held while a question is open

	mu     sync.Mutex
	tokens float64 // progress messages allowed at once
	last   time.Time
}

func newCalls() *calls {
	return &calls{open: map[string]*openCall{}, changed: make(chan struct{})}
}

type callKey struct{}

// begin registers a call, which the caller must end. If the server's questions do not
// name their call, calls run one at a time.
func (c *calls) begin(ctx context.Context, call *tool.Call) (*openCall, error) {
	for {
		c.mu.Lock()
		if c.stopped {
			c.mu.Unlock()
			return nil, errClosed
		}
		if !c.serial || len(c.open) == 0 {
			defer c.mu.Unlock()
			c.next++
			u := &openCall{call: call, token: fmt.Sprintf("call-%d", c.next), tokens: progressBurst, last: time.Now()}
			u.ctx, u.cancel = context.WithCancelCause(context.WithValue(ctx, callKey{}, u))
			c.open[u.token] = u
			return u, nil
		}
		changed := c.changed
		c.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (c *calls) end(u *openCall) {
	u.cancel(nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, u.token)
	c.ambiguous = c.ambiguous && len(c.open) > 0
	c.change()
}

// change wakes all waiters; c.mu is held.
func (c *calls) change() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// stop cancels all calls.
func (c *calls) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	for _, u := range c.open {
		u.cancel(errClosed)
	}
}

// attribute returns the call that a question of the server belongs to: the one that the
// protocol names, or else the only one in flight. If there are several, it waits a while
// for the others to end, and from then on calls run one at a time.
func (c *calls) attribute(ctx context.Context) (*openCall, error) {
	if u, ok := ctx.Value(callKey{}).(*openCall); ok {
		return u, nil
	}
	timer := time.NewTimer(attributionTimeout)
	defer timer.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.serial = true
	c.waiting++
	defer func() { c.waiting-- }()
	for {
		if u := c.single(); u != nil {
			return u, nil
		}
		if c.ambiguous || len(c.open) == 0 || c.waiting >= len(c.open) {
			if c.ambiguous = len(c.open) > 0; c.ambiguous {
				c.change()
			}
			return nil, errAmbiguous
		}
		if err := c.await(ctx, timer.C); err != nil {
			return nil, err
		}
	}
}

// await releases c.mu and waits for a change.
func (c *calls) await(ctx context.Context, timeout <-chan time.Time) error {
	changed := c.changed
	c.mu.Unlock()
	defer c.mu.Lock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timeout:
		return errAmbiguous
	}
}

// errAmbiguous is the error of a question that cannot be attributed.
var errAmbiguous = errors.New("the server asked a question while several calls were in flight and did not name the call; the question was canceled, and calls now run one at a time")

// single returns the only call in flight, or nil; c.mu is held.
func (c *calls) single() *openCall {
	if len(c.open) == 1 {
		for _, u := range c.open {
			return u
		}
	}
	return nil
}

// broadcast reports a message to all calls.
func (c *calls) broadcast(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, u := range c.open {
		u.report(text)
	}
}

// report forwards a progress message, subject to the rate limit.
func (u *openCall) report(text string) {
	if text = strings.TrimSpace(text); text == "" || u.call.Progress == nil {
		return
	}
	u.mu.Lock()
	now := time.Now()
	u.tokens = min(u.tokens+float64(now.Sub(u.last))/float64(progressInterval), progressBurst)
	u.last = now
	allowed := u.tokens >= 1
	if allowed {
		u.tokens--
	}
	u.mu.Unlock()
	if allowed {
		u.call.Progress(strings.ToValidUTF8(text[:min(len(text), maxProgressText)], ""))
	}
}

// progress handles progress notifications.
func (s *session) progress(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
	p := req.Params
	token, _ := p.ProgressToken.(string)
	s.calls.mu.Lock()
	u := s.calls.open[token]
	s.calls.mu.Unlock()
	if u == nil {
		return // the call has ended
	}
	text := p.Message
	if text == "" && p.Total > 0 {
		text = fmt.Sprintf("%g of %g", p.Progress, p.Total)
	} else if text == "" {
		text = fmt.Sprintf("%g", p.Progress)
	}
	u.report(text)
}

// logMessage handles log notifications: it reports them if there is only one call.
func (s *session) logMessage(_ context.Context, req *sdk.LoggingMessageRequest) {
	s.calls.mu.Lock()
	u := s.calls.single()
	s.calls.mu.Unlock()
	if u == nil {
		return
	}
	text, ok := req.Params.Data.(string)
	if !ok {
		text = string(toJSON(req.Params.Data))
	}
	u.report(text)
}

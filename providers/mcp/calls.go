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
	// askedLong is how long a question waits until it is clear whose it is.
	askedLong = 5 * time.Second
	// toldEvery and toldAtOnce bound what people are told while a call goes on.
	toldEvery  = 100 * time.Millisecond
	toldAtOnce = 20
	maxTold    = 2000 // bytes
)

// calls are those under way in a session.
type calls struct {
	mu      sync.Mutex
	open    map[string]*underway
	next    int
	alone   bool          // the server asks without saying for which call: one at a time
	waiting int           // questions of which it is not clear yet whose they are
	mixed   bool          // each call asks: it will not become clear
	changed chan struct{} // closed when any of this changes
	stopped bool
}

// underway is one call.
type underway struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	call   *tool.Call
	token  string
	asking sync.Mutex // one question at a time

	mu   sync.Mutex
	told float64 // messages that may be passed on at once
	last time.Time
}

func newCalls() *calls {
	return &calls{open: map[string]*underway{}, changed: make(chan struct{})}
}

type underwayKey struct{}

// begin notes a call; the caller ends it. A server that asks people without
// saying for which call has one at a time.
func (c *calls) begin(ctx context.Context, call *tool.Call) (*underway, error) {
	for {
		c.mu.Lock()
		if c.stopped {
			c.mu.Unlock()
			return nil, errClosed
		}
		if !c.alone || len(c.open) == 0 {
			defer c.mu.Unlock()
			c.next++
			u := &underway{call: call, token: fmt.Sprintf("call-%d", c.next), told: toldAtOnce, last: time.Now()}
			u.ctx, u.cancel = context.WithCancelCause(context.WithValue(ctx, underwayKey{}, u))
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

func (c *calls) end(u *underway) {
	u.cancel(nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, u.token)
	c.mixed = c.mixed && len(c.open) > 0
	c.change()
}

// change wakes whoever waits; c.mu is held.
func (c *calls) change() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// stop ends all calls.
func (c *calls) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	for _, u := range c.open {
		u.cancel(errClosed)
	}
}

// of finds the call that a question of the server belongs to: the one it was
// asked in, where the protocol tells; else the only one. Where there are more,
// the others are waited for a while, and from then on calls are made one by one.
func (c *calls) of(ctx context.Context) (*underway, error) {
	if u, ok := ctx.Value(underwayKey{}).(*underway); ok {
		return u, nil
	}
	timer := time.NewTimer(askedLong)
	defer timer.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.alone = true
	c.waiting++
	defer func() { c.waiting-- }()
	for {
		if u := c.only(); u != nil {
			return u, nil
		}
		if c.mixed || len(c.open) == 0 || c.waiting >= len(c.open) {
			if c.mixed = len(c.open) > 0; c.mixed {
				c.change()
			}
			return nil, errWhose
		}
		if err := c.await(ctx, timer.C); err != nil {
			return nil, err
		}
	}
}

// await waits until something changes; c.mu is held, but not meanwhile.
func (c *calls) await(ctx context.Context, over <-chan time.Time) error {
	changed := c.changed
	c.mu.Unlock()
	defer c.mu.Lock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-over:
		return errWhose
	}
}

// errWhose leaves a question without an answer.
var errWhose = errors.New("the server asks while several calls are under way, and does not say for which: it gets no answer, and calls are made one by one from now on")

// only is the one call under way, or nil; c.mu is held.
func (c *calls) only() *underway {
	if len(c.open) == 1 {
		for _, u := range c.open {
			return u
		}
	}
	return nil
}

// tell passes a message on to all calls.
func (c *calls) tell(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, u := range c.open {
		u.tell(text)
	}
}

// tell passes on a message, unless there are too many.
func (u *underway) tell(text string) {
	if text = strings.TrimSpace(text); text == "" || u.call.Progress == nil {
		return
	}
	u.mu.Lock()
	now := time.Now()
	u.told = min(u.told+float64(now.Sub(u.last))/float64(toldEvery), toldAtOnce)
	u.last = now
	may := u.told >= 1
	if may {
		u.told--
	}
	u.mu.Unlock()
	if may {
		u.call.Progress(strings.ToValidUTF8(text[:min(len(text), maxTold)], ""))
	}
}

// progress is what the server tells of a call.
func (s *session) progress(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
	p := req.Params
	token, _ := p.ProgressToken.(string)
	s.calls.mu.Lock()
	u := s.calls.open[token]
	s.calls.mu.Unlock()
	if u == nil {
		return // of a call that has ended
	}
	text := p.Message
	if text == "" && p.Total > 0 {
		text = fmt.Sprintf("%g of %g", p.Progress, p.Total)
	} else if text == "" {
		text = fmt.Sprintf("%g", p.Progress)
	}
	u.tell(text)
}

// logged is what the server logs: for people who watch the only call there is.
func (s *session) logged(_ context.Context, req *sdk.LoggingMessageRequest) {
	s.calls.mu.Lock()
	u := s.calls.only()
	s.calls.mu.Unlock()
	if u == nil {
		return
	}
	text, ok := req.Params.Data.(string)
	if !ok {
		text = string(encoded(req.Params.Data))
	}
	u.tell(text)
}

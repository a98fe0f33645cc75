package mcp

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/pexctl/pex/engine/breaker"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/engine/tool"
)

// A server that ends again and again is started after growing pauses, and then
// left alone for a while.
const (
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
	inARow     = 5 // starts without a call that came to its end
	respite    = 30 * time.Second
)

// link keeps one session with a server for all calls, and starts the server
// again when it is gone.
type link struct {
	server *server
	place  place
	life   context.Context // until close
	stop   context.CancelFunc

	mu      sync.Mutex
	current *session        // nil = none was begun
	attempt *attempt        // under way, nil = none is
	circuit breaker.Breaker // of starts and ends
	last    error

	burials sync.WaitGroup // of sessions that no other follows
}

// attempt is one start of the server; what came of it may be read once done is
// closed.
type attempt struct {
	done    chan struct{}
	session *session
	err     error
}

func newLink(t *server, p place) *link {
	l := &link{server: t, place: p, circuit: breaker.Breaker{Trip: inARow, Pause: respite}}
	l.life, l.stop = context.WithCancel(context.Background())
	return l
}

// session is the one there is, or a new one: whoever asks meanwhile waits for
// the same start. A start goes on when the one who asked for it has gone.
func (l *link) session(ctx context.Context) (*session, error) {
	l.mu.Lock()
	if l.current.alive() {
		defer l.mu.Unlock()
		return l.current, nil
	}
	a := l.attempt
	if a == nil {
		var err error
		if a, err = l.begin(); err != nil {
			l.mu.Unlock()
			return nil, err
		}
	}
	l.mu.Unlock()
	select {
	case <-a.done:
		return a.session, a.err
	case <-ctx.Done():
		return nil, fmt.Errorf("the server %s is not ready yet: %w", l.server.info.Name, ctx.Err())
	}
}

// begin starts the server in the background; l.mu is held.
func (l *link) begin() (*attempt, error) {
	if l.life.Err() != nil {
		return nil, errClosed
	}
	old := l.current
	if old != nil {
		l.current = nil
		l.failed(old.lost(nil))
	}
	if left := l.circuit.Left(time.Now()); left > 0 {
		if old != nil {
			l.burials.Go(old.end)
		}
		return nil, tool.Unavailable(fmt.Errorf("the server %s was started %d times in a row and was lost each time; it is left alone for %s: %w",
			l.server.info.Name, inARow, left.Round(time.Second), l.last))
	}
	a := &attempt{done: make(chan struct{})}
	l.attempt = a
	pause := time.Duration(0)
	if n := l.circuit.Failures; n > 0 {
		pause = retry.Backoff(min(n, inARow-1), firstPause, maxPause)
	}
	go l.try(a, old, pause)
	return a, nil
}

// failed counts; l.mu is held.
func (l *link) failed(why error) {
	l.last = why
	l.circuit.Fail(time.Now(), 0)
}

// try makes an attempt, once the session before it is ended.
func (l *link) try(a *attempt, old *session, pause time.Duration) {
	if old != nil {
		old.end()
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		a.session, a.err = l.open()
	case <-l.life.Done():
		a.err = errClosed
	}
	l.mu.Lock()
	l.attempt, l.current = nil, a.session
	if a.err != nil {
		l.failed(a.err)
		a.err = tool.Unavailable(a.err)
	}
	l.mu.Unlock()
	close(a.done)
}

// open starts the server and asks what it has.
func (l *link) open() (*session, error) {
	ctx, cancel := context.WithTimeout(l.life, l.server.startTime())
	defer cancel()
	c, err := l.place.open()
	if err != nil {
		return nil, fmt.Errorf("the server %s cannot be started: %w", l.server.info.Name, err)
	}
	s := newSession(l, c)
	if err = s.connect(ctx, c.transport); err != nil && c.older != nil && ctx.Err() == nil {
		if t := c.older(); t != nil {
			err = s.connect(ctx, t)
		}
	}
	if err == nil {
		s.first, err = s.list(ctx)
	}
	switch {
	case err == nil:
		return s, nil
	case l.life.Err() != nil:
		err = errClosed
	case ctx.Err() != nil:
		err = withAbout(fmt.Errorf("the server %s has not told its tools within %s (start_timeout)", l.server.info.Name, l.server.config.StartTimeout), c.about())
	default:
		err = withAbout(fmt.Errorf("the server %s cannot be used: %w", l.server.info.Name, plainly(err)), c.about())
	}
	s.end()
	return nil, err
}

// worked says that a call came to its end.
func (l *link) worked() {
	l.mu.Lock()
	l.circuit.Succeed()
	l.mu.Unlock()
}

// close ends the session and whatever start is under way.
func (l *link) close() {
	l.stop()
	l.mu.Lock()
	a := l.attempt
	l.mu.Unlock()
	if a != nil {
		<-a.done
	}
	l.mu.Lock()
	s := l.current
	l.mu.Unlock()
	if s != nil {
		s.end()
	}
	l.burials.Wait()
}

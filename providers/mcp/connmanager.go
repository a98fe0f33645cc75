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

// A server that keeps failing is restarted with backoff, and then not at all for a while.
const (
	firstPause  = 100 * time.Millisecond
	maxPause    = 5 * time.Second
	maxFailures = 5 // starts without a completed call
	cooldown    = 30 * time.Second
)

// connManager keeps one session with a server for all calls, and reconnects when it is
// lost.
type connManager struct {
	server   *server
	target   target
	lifetime context.Context // until close
	stop     context.CancelFunc

	mu      sync.Mutex
	current *session        // nil = none yet
	attempt *startAttempt   // in progress; nil = none
	circuit breaker.Breaker // of starts and lost sessions
	last    error

	closing sync.WaitGroup // sessions being closed
}

// startAttempt is one start of the server; its result may be read once done is closed.
type startAttempt struct {
	done    chan struct{}
	session *session
	err     error
}

func newConnManager(t *server, p target) *connManager {
	l := &connManager{server: t, target: p, circuit: breaker.Breaker{Trip: maxFailures, Pause: cooldown}}
	l.lifetime, l.stop = context.WithCancel(context.Background())
	return l
}

// session returns the current session or starts a new one. Concurrent callers share a
// start, which continues if its first caller gives up.
func (l *connManager) session(ctx context.Context) (*session, error) {
	l.mu.Lock()
	if l.current.healthy() {
		defer l.mu.Unlock()
		return l.current, nil
	}
	a := l.attempt
	if a == nil {
		var err error
		if a, err = l.startLocked(); err != nil {
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

// startLocked starts the server in the background; l.mu is held.
func (l *connManager) startLocked() (*startAttempt, error) {
	if l.lifetime.Err() != nil {
		return nil, errClosed
	}
	old := l.current
	if old != nil {
		l.current = nil
		l.recordFailure(old.closeError(nil))
	}
	if wait := l.circuit.Remaining(time.Now()); wait > 0 {
		if old != nil {
			l.closing.Go(old.close)
		}
		return nil, tool.Unavailable(fmt.Errorf("the server %s failed %d times in a row; the next attempt is allowed in %s: %w",
			l.server.info.Name, maxFailures, wait.Round(time.Second), l.last))
	}
	a := &startAttempt{done: make(chan struct{})}
	l.attempt = a
	pause := time.Duration(0)
	if n := l.circuit.Failures; n > 0 {
		pause = retry.Backoff(min(n, maxFailures-1), firstPause, maxPause)
	}
	go l.runAttempt(a, old, pause)
	return a, nil
}

// recordFailure counts a failure; l.mu is held.
func (l *connManager) recordFailure(why error) {
	l.last = why
	l.circuit.Fail(time.Now(), 0)
}

// runAttempt connects after the old session has been closed.
func (l *connManager) runAttempt(a *startAttempt, old *session, pause time.Duration) {
	if old != nil {
		old.close()
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		a.session, a.err = l.open()
	case <-l.lifetime.Done():
		a.err = errClosed
	}
	l.mu.Lock()
	l.attempt, l.current = nil, a.session
	if a.err != nil {
		l.recordFailure(a.err)
		a.err = tool.Unavailable(a.err)
	}
	l.mu.Unlock()
	close(a.done)
}

// open connects to the server and lists its tools.
func (l *connManager) open() (*session, error) {
	ctx, cancel := context.WithTimeout(l.lifetime, l.server.startTime())
	defer cancel()
	c, err := l.target.open()
	if err != nil {
		return nil, fmt.Errorf("cannot start the MCP server %q: %w", l.server.info.Name, err)
	}
	s := newSession(l, c)
	if err = s.connect(ctx, c.transport); err != nil && c.fallback != nil && ctx.Err() == nil {
		if t := c.fallback(); t != nil {
			err = s.connect(ctx, t)
		}
	}
	if err == nil {
		s.firstListing, err = s.list(ctx)
	}
	switch {
	case err == nil:
		return s, nil
	case l.lifetime.Err() != nil:
		err = errClosed
	case ctx.Err() != nil:
		err = withDetail(fmt.Errorf("the server %s did not list its tools within %s (start_timeout)", l.server.info.Name, l.server.config.StartTimeout), c.diagnostics())
	default:
		err = withDetail(fmt.Errorf("the server %s cannot be used: %w", l.server.info.Name, plainError(err)), c.diagnostics())
	}
	s.close()
	return nil, err
}

// recordSuccess records a completed call.
func (l *connManager) recordSuccess() {
	l.mu.Lock()
	l.circuit.Succeed()
	l.mu.Unlock()
}

// close ends the session and any start in progress.
func (l *connManager) close() {
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
		s.close()
	}
	l.closing.Wait()
}

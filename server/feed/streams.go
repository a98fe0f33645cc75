package feed

import (
	"context"
	"errors"
	"sync"
)

// The errors of Streams.Open.
var (
	ErrTooManyStreams = errors.New("too many event streams are open")
	ErrClosing        = errors.New("the server is shutting down")
)

// Streams limits the event streams that are open at once, and ends them when the server
// shuts down. All methods are safe for concurrent use. A nil Streams has no limit.
type Streams struct {
	max int

	mu     sync.Mutex
	closed bool
	open   map[*context.CancelFunc]bool
}

// NewStreams returns Streams that allow max streams at once; 0 = no limit.
func NewStreams(max int) *Streams {
	return &Streams{max: max, open: map[*context.CancelFunc]bool{}}
}

// Open opens a stream and returns its context, which ends with ctx and with Close. The
// caller must call release at its end. The error is ErrTooManyStreams or ErrClosing.
func (s *Streams) Open(ctx context.Context) (_ context.Context, release func(), _ error) {
	if s == nil {
		return ctx, func() {}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, nil, ErrClosing
	case s.max > 0 && len(s.open) >= s.max:
		return nil, nil, ErrTooManyStreams
	}
	ctx, cancel := context.WithCancel(ctx)
	s.open[&cancel] = true
	return ctx, func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, &cancel)
	}, nil
}

// Len returns how many streams are open.
func (s *Streams) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// Close ends all streams and rejects new ones.
func (s *Streams) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for cancel := range s.open {
		(*cancel)()
	}
}

package feed

import (
	"context"
	"errors"
	"sync"
)

// The errors of Streams.Open.
var (
	ErrTooManyStreams  = errors.New("too many requests watch runs or wait for results")
	ErrTooManyOfTenant = errors.New("too many requests of this tenant watch runs or wait for results")
	ErrClosing         = errors.New("the server is shutting down")
)

// Streams limits the event streams and waiting requests that are open at once, and ends them when the server
// shuts down. All methods are safe for concurrent use. A nil Streams has no limit.
type Streams struct {
	max, maxOfTenant int

	mu     sync.Mutex
	closed bool
	open   map[*context.CancelFunc]bool
	of     map[string]int // open streams of each tenant
}

// NewStreams returns Streams that allow max streams at once, and maxOfTenant for each tenant;
// 0 = no limit.
func NewStreams(max, maxOfTenant int) *Streams {
	return &Streams{max: max, maxOfTenant: maxOfTenant, open: map[*context.CancelFunc]bool{}, of: map[string]int{}}
}

// Open opens a stream of a tenant and returns its context, which ends with ctx and with Close.
// The caller must call release at its end. The error is ErrTooManyStreams, ErrTooManyOfTenant
// or ErrClosing.
func (s *Streams) Open(ctx context.Context, tenant string) (_ context.Context, release func(), _ error) {
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
	case s.maxOfTenant > 0 && s.of[tenant] >= s.maxOfTenant:
		return nil, nil, ErrTooManyOfTenant
	}
	ctx, cancel := context.WithCancel(ctx)
	s.open[&cancel] = true
	s.of[tenant]++
	return ctx, func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open[&cancel] {
			delete(s.open, &cancel)
			if s.of[tenant]--; s.of[tenant] == 0 {
				delete(s.of, tenant)
			}
		}
	}, nil
}

// Len returns how many streams are open.
func (s *Streams) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// LenOf returns how many streams of a tenant are open.
func (s *Streams) LenOf(tenant string) int {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of[tenant]
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

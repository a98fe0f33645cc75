package runs

import (
	"context"

	"github.com/pexctl/pex/engine/journal"
)

// Tail exports tail for tests.
type Tail struct{ t tail }

// NewTail returns the tail of a run after the record with sequence number seen.
func NewTail(ctx context.Context, s *Service, run string, seen uint64) *Tail {
	return &Tail{tail{ctx: ctx, svc: s, run: run, lastSeq: seen}}
}

// More waits for records.
func (t *Tail) More() ([]journal.Record, error) { return t.t.more(0) }

// Rewound reports whether records were voided.
func (t *Tail) Rewound() bool { return t.t.rewound }

// Received returns the number of records received.
func (t *Tail) Received() int { return len(t.t.received) }

package runs

import (
	"context"

	"github.com/pexctl/pex/engine/journal"
)

// Tail is a tail for tests.
type Tail struct{ t tail }

// NewTail returns the tail of a run behind a record.
func NewTail(ctx context.Context, s *Service, run string, seen uint64) *Tail {
	return &Tail{tail{ctx: ctx, svc: s, run: run, seen: seen}}
}

// More waits for records.
func (t *Tail) More() ([]journal.Record, error) { return t.t.more(0) }

// Rewound says whether part of the records became void.
func (t *Tail) Rewound() bool { return t.t.rewound }

// Got is the number of all records.
func (t *Tail) Got() int { return len(t.t.got) }

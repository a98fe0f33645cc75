package feed

import (
	"context"
	"time"
)

const (
	settleTime = time.Second     // after which a live Feed without news has replayed the journal
	checkTime  = 5 * time.Second // the longest Check
)

// Check returns a *CursorError if no event of the run has the cursor.
//
// A cursor beyond the last event may still be valid: a session that starts has not
// replayed the journal yet, and one that ended right after a raise of the limits has sent
// no event since. So Check waits for the session, for up to five seconds, and accepts the
// cursor if it is still undecided, or if the feed ended before the run did. It returns
// the error of ctx if ctx ends.
func (f *Feed) Check(ctx context.Context, after Cursor) error {
	timeout := time.NewTimer(checkTime)
	defer timeout.Stop()
	settled := time.NewTimer(settleTime)
	defer settled.Stop()
	for {
		k := f.lookUp(after)
		if k.accepted {
			return nil
		}
		err := &CursorError{Value: after.String(), Unknown: true, Last: k.last}
		if k.rejected {
			return err
		}
		quiet := settled.C
		if settled.Reset(settleTime); !k.live {
			quiet = nil
		}
		select {
		case <-k.changed:
		case <-quiet:
			return err
		case <-timeout.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// knowledge is what a feed knows about a cursor.
type knowledge struct {
	accepted bool
	rejected bool // neither: later events decide
	live     bool // the session has begun to execute
	last     Cursor
	changed  <-chan struct{}
}

func (f *Feed) lookUp(c Cursor) knowledge {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := knowledge{live: f.live, last: f.last, changed: f.numbered.next()}
	_, rewound := f.rewoundTo(c)
	switch {
	case c == Cursor{} || rewound:
		k.accepted = true
	case c.Seq <= f.last.Seq:
		k.accepted = c.Seq != 0 && c.Rewinds == f.rewindsAt(c.Seq)
		k.rejected = !k.accepted
	case f.end != nil:
		k.rejected = f.done
		k.accepted = !k.rejected
	}
	return k
}

// rewindsAt returns how often the run was rewound before event seq.
func (f *Feed) rewindsAt(seq int) (n int) {
	for _, start := range f.starts {
		if start.Seq <= seq {
			n = start.Rewinds
		}
	}
	return n
}

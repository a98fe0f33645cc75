package runs

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
)

// followInterval is the interval at which Follow checks the journal for new records.
const followInterval = 100 * time.Millisecond

// Follow sends the events of a run to sinks, from its start and as they happen, until
// the run ends, waits or is suspended, or ctx ends. It does not affect the run, which any
// process may execute. On ErrRewound the caller should call Follow again.
func (s *Service) Follow(ctx context.Context, run string, sinks ...engine.Sink) (*engine.Result, error) {
	r, err := s.Read(run)
	if err != nil {
		return nil, err
	}
	t := &tail{ctx: ctx, svc: s, run: run, lastSeq: r.Records[len(r.Records)-1].Seq}
	follow := &runtime.Tail{More: t.more}
	res := r.replay(ctx, runtime.Options{Follow: follow, Conversation: true}, sinks...)
	r.Records = append(slices.Clip(r.Records), t.received...)
	if (t.rewound || follow.Rewound) && ctx.Err() == nil {
		return nil, ErrRewound
	}
	return r.activeTime(res), nil
}

// tail reads the new records of a journal that another process writes.
type tail struct {
	ctx      context.Context
	svc      *Service
	run      string
	lastSeq  uint64 // sequence number of the last record returned
	size     int64  // size of the journal when last read
	received []journal.Record
	rewound  bool // some of the returned records were voided
}

// more waits for new records. It returns none if no process writes any, or ctx ended.
func (t *tail) more(uint64) ([]journal.Record, error) {
	tick := time.NewTicker(followInterval)
	defer tick.Stop()
	for {
		_, held := t.svc.home.Holder(t.run) // check before reading, so that the last records are not missed
		recs, err := t.added()
		if err != nil || len(recs) > 0 || !held {
			return recs, err
		}
		select {
		case <-t.ctx.Done():
			return nil, nil
		case <-tick.C:
		}
	}
}

// added returns the records added since the last call. It does not read a journal of
// unchanged size.
func (t *tail) added() ([]journal.Record, error) {
	info, err := os.Stat(t.svc.home.File(t.run))
	if err != nil {
		return nil, err
	}
	if info.Size() == t.size {
		return nil, nil
	}
	recs, err := t.svc.home.Read(t.run)
	if err != nil {
		return nil, err
	}
	t.size = info.Size()
	for len(recs) > 0 && recs[0].Seq <= t.lastSeq {
		recs = recs[1:]
	}
	for i := range recs {
		t.rewound = t.rewound || i == 0 && recs[i].Kind == journal.Said && recs[i].Deferred // see kernel.ErrRewound
		t.lastSeq = recs[i].Seq
		t.rewound = t.rewound || recs[i].Voids != 0
	}
	t.received = append(t.received, recs...)
	return recs, nil
}

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

// followTick is how often the journal of a run that is followed is looked at.
const followTick = 100 * time.Millisecond

// Follow sends the events of a run, from its start, to sinks as they come, until
// the run ends, waits or is suspended, or ctx ends. It does nothing to the run,
// which any process may execute. With ErrRewound the caller follows again.
func (s *Service) Follow(ctx context.Context, run string, sinks ...engine.Sink) (*engine.Result, error) {
	r, err := s.Read(run)
	if err != nil {
		return nil, err
	}
	t := &tail{ctx: ctx, svc: s, run: run, seen: r.Records[len(r.Records)-1].Seq}
	res := r.replay(ctx, runtime.Options{Follow: &runtime.Tail{More: t.more}, Conversation: true}, sinks...)
	r.Records = append(slices.Clip(r.Records), t.got...)
	if t.rewound && ctx.Err() == nil {
		return nil, ErrRewound
	}
	return r.activeTime(res), nil
}

// tail is the end of a journal that another process writes.
type tail struct {
	ctx     context.Context
	svc     *Service
	run     string
	seen    uint64 // the last record that was passed on
	size    int64  // of the journal when it was read last
	got     []journal.Record
	rewound bool // part of what was passed on became void
}

// more waits for records; none = there will be none, or ctx ended.
func (t *tail) more(uint64) ([]journal.Record, error) {
	tick := time.NewTicker(followTick)
	defer tick.Stop()
	for {
		_, held := t.svc.home.Holder(t.run) // before the look: what it wrote last is then seen
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

// added is the records that came since. A journal that did not grow is not read.
func (t *tail) added() ([]journal.Record, error) {
	info, err := os.Stat(t.svc.journalFile(t.run))
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
	for len(recs) > 0 && recs[0].Seq <= t.seen {
		recs = recs[1:]
	}
	for i := range recs {
		t.seen = recs[i].Seq
		t.rewound = t.rewound || recs[i].Voids != 0
	}
	t.got = append(t.got, recs...)
	return recs, nil
}

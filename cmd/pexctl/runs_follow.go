package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/internal/app/failure"
)

// followTick is how often a run that is watched is looked at.
const followTick = 100 * time.Millisecond

// follow looks on at one run.
type follow struct {
	target
	c    *ui.Call
	json bool
	held bool // a process has the run open
	pid  int
}

// watch shows a run as it unfolds, and ends as `run` would have ended. Who stops
// to watch does nothing to the run.
func (f *follow) watch() error {
	ctx, stop := ui.OnSignal(f.c.Context, func() {})
	defer stop()
	for {
		res, t, err := f.look(ctx)
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return f.left(ctx)
		case t.rewound:
			fmt.Fprintf(f.c.Stderr, "run %s goes on with other limits; from its beginning:\n", f.run)
		default:
			return f.end(res)
		}
	}
}

// look follows a run until nothing more comes.
func (f *follow) look(ctx context.Context) (*engine.Result, *tail, error) {
	p, err := f.past(f.c)
	if err != nil {
		return nil, nil, err
	}
	w, err := newWatch(f.c, f.json, false)
	if err != nil {
		return nil, nil, err
	}
	t := &tail{ctx: ctx, home: f.home, run: f.run, seen: p.records[len(p.records)-1].Seq}
	res := p.look(ctx, &engine.Follow{More: t.more}, w.sinks...)
	p.records = append(slices.Clip(p.records), t.got...)
	if err := w.close(); err != nil {
		return nil, nil, failure.Infra(err)
	}
	return p.timed(res), t, nil
}

// end prints the answer of a run that has ended, or what it waits for.
func (f *follow) end(res *engine.Result) error {
	if !f.c.Bool("conversation") {
		res.Conversation = nil
	}
	err := answer(f.c, res, f.json)
	if !f.c.Bool("quiet") {
		noteStored(f.c, f.dir, res)
		for _, line := range goOn(f.c, f.dir, res) {
			fmt.Fprintln(f.c.Stderr, line)
		}
	}
	return err
}

// left says that a run goes on though nobody looks.
func (f *follow) left(ctx context.Context) error {
	if pid, held := f.home.Holder(f.run); held && !f.c.Bool("quiet") {
		fmt.Fprintf(f.c.Stderr, "run %s goes on (pid %d); pexctl runs show %[1]s --follow%[3]s watches it again\n", f.run, pid, homeArgument(f.c, f.dir))
	}
	return ui.Exit(ui.SignalCode(context.Cause(ctx)), nil)
}

// tail is the end of a journal that another process writes.
type tail struct {
	ctx     context.Context
	home    *journal.Home
	run     string
	seen    uint64 // the last record that was passed on
	size    int64  // of the journal when it was read last
	got     []journal.Record
	rewound bool // part of what was passed on became void
}

// more waits for records; none = there will be none, or nobody looks any more.
func (t *tail) more(uint64) ([]journal.Record, error) {
	tick := time.NewTicker(followTick)
	defer tick.Stop()
	for {
		_, held := t.home.Holder(t.run) // before the look: what it wrote last is then seen
		recs, err := t.behind()
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

// behind is the records that came since. A journal that did not grow is not read.
func (t *tail) behind() ([]journal.Record, error) {
	info, err := os.Stat(filepath.Join(t.home.Folder(t.run), journalName))
	if err != nil {
		return nil, err
	}
	if info.Size() == t.size {
		return nil, nil
	}
	recs, err := t.home.Read(t.run)
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

// journalName is the file in a run's folder that holds its records.
const journalName = "journal.jsonl"

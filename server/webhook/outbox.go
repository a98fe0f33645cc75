package webhook

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/internal/app/homedir"
	"github.com/pexctl/pex/server/feed"
)

// Tenant is whose runs an Outbox is about.
type Tenant struct {
	Name string
	Home string // folder; the ledger is below it
	// Replay sends the events of a run in its journal to a sink, from the first one. The
	// error is a *runs.NotFoundError if there is no such run.
	Replay func(ctx context.Context, run string, to engine.Sink) error
}

// Outbox has the messages about the runs of a tenant.
type Outbox struct {
	Tenant
	d *Dispatcher

	// Guarded by Dispatcher.mu.
	ledger *ledger // nil until there is a hook
	isRead bool    // the streams of the ledger are in runs
	runs   map[string]*run
	stats  map[string]*stats // by hook
}

// run is a run that is in progress, or about which messages may be left to send.
type run struct {
	box       *Outbox
	id, agent string
	streams   map[string]*stream // by hook
	session   *Attachment        // nil if it does not execute in this process
}

// add adds a stream to the run. The caller holds mu.
func (r *run) add(s *sender, at feed.Cursor) {
	r.streams[s.hook.Name] = &stream{of: r, sender: s, done: at, seen: at}
}

// open opens the ledger, unless it is open. The caller holds mu.
func (b *Outbox) open() (err error) {
	if b.ledger == nil {
		b.ledger, err = openLedger(filepath.Join(b.Home, homedir.WebhooksFolder), b.d.o.Log)
	}
	return err
}

// adopt adapts the streams to the hooks of the Dispatcher. The caller holds mu.
func (b *Outbox) adopt() error {
	if b.ledger == nil {
		return nil // there never was a hook
	}
	b.read()
	var errs []error
	for _, r := range b.runs {
		for name, x := range r.streams {
			if s := b.d.senders[name]; s != nil && s.hook.takes(b.Name, r.agent) {
				x.move(s)
			} else {
				x.remove()
			}
		}
		if r.session != nil {
			errs = append(errs, b.join(r))
		}
	}
	return errors.Join(errs...)
}

// read adds the streams of the ledger, once. The caller holds mu.
func (b *Outbox) read() {
	if b.isRead {
		return
	}
	b.isRead = true
	for id, e := range b.ledger.runs() {
		r := b.runs[id]
		if r == nil {
			r = &run{box: b, id: id, agent: e.agent, streams: map[string]*stream{}}
		}
		for hook, at := range e.done {
			if s := b.d.senders[hook]; s != nil && s.hook.takes(b.Name, e.agent) {
				r.add(s, at)
				b.runs[id] = r
			} else {
				b.ledger.end(id, hook)
			}
		}
	}
}

// join adds the hooks that a run in progress lacks, from its next event on. The caller holds
// mu.
func (b *Outbox) join(r *run) error {
	at := map[string]feed.Cursor{}
	for name := range b.missing(r) {
		at[name] = r.session.at
		r.add(b.d.senders[name], r.session.at)
	}
	if len(at) == 0 {
		return nil
	}
	if err := b.ledger.add(r.id, r.agent, at); err != nil {
		return err
	}
	return b.ledger.sync()
}

// missing returns the hooks for a run that have no stream of it. The caller holds mu.
func (b *Outbox) missing(r *run) map[string]bool {
	out := map[string]bool{}
	for name, s := range b.d.senders {
		if r.streams[name] == nil && s.hook.takes(b.Name, r.agent) {
			out[name] = true
		}
	}
	return out
}

// offer adds an event to the streams of the run. The caller holds mu.
func (r *run) offer(ev *engine.Event) {
	for _, x := range r.streams {
		x.offer(ev)
	}
}

// tryEnd removes what the run does not need. The caller holds mu.
func (r *run) tryEnd() {
	for _, x := range r.streams {
		x.tryEnd()
	}
	if len(r.streams) == 0 && r.session == nil {
		delete(r.box.runs, r.id)
	}
}

// forget drops what is left of a run. The caller holds mu.
func (b *Outbox) forget(id string) {
	r := b.runs[id]
	if r == nil {
		return
	}
	for _, x := range r.streams {
		x.remove()
	}
	delete(b.runs, id)
}

// Recover reads the runs of the ledger, and sends what was not delivered, until ctx ends. Runs
// that execute send their events themselves.
func (b *Outbox) Recover(ctx context.Context) {
	b.d.mu.Lock()
	ids := slices.Sorted(maps.Keys(b.runs))
	b.d.mu.Unlock()
	for _, id := range ids {
		if ctx.Err() != nil {
			return
		}
		b.catchUp(ctx, id)
	}
}

// CatchUp is Recover for a run that changed without a session of this process, in the
// background.
func (b *Outbox) CatchUp(id string) {
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	if r := b.runs[id]; r != nil && r.session != nil {
		r.session.changed = true
	} else {
		b.catchUpLater(id)
	}
}

// catchUpLater reads a run again in the background. The caller holds mu.
func (b *Outbox) catchUpLater(id string) {
	if b.runs[id] == nil || !b.d.begin() {
		return
	}
	go func() {
		defer b.d.working.Done()
		b.catchUp(b.d.ctx, id)
	}()
}

func (b *Outbox) catchUp(ctx context.Context, id string) {
	b.d.mu.Lock()
	r := b.runs[id]
	if r == nil || r.session != nil {
		b.d.mu.Unlock()
		return
	}
	b.d.mu.Unlock()
	err := b.Replay(ctx, id, replaySink{r})
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	switch {
	case b.runs[id] != r || r.session != nil:
	case errors.As(err, new(*runs.NotFoundError)):
		b.forget(id)
	case err != nil:
		b.d.o.Log.Warn("read a run for webhooks", "run_id", id, "tenant", b.Name, "error", err)
	default:
		r.tryEnd()
	}
}

// replaySink adds the events of a replay to a run.
type replaySink struct{ run *run }

// Send implements engine.Sink.
func (s replaySink) Send(ev engine.Event) {
	mu := &s.run.box.d.mu
	mu.Lock()
	defer mu.Unlock()
	if ev.Seq != 0 {
		s.run.offer(&ev)
	}
}

// stopTimers ends all delays. The caller holds mu.
func (b *Outbox) stopTimers() {
	for _, r := range b.runs {
		for _, x := range r.streams {
			if x.state == delayed {
				x.timer.Stop()
			}
		}
	}
}

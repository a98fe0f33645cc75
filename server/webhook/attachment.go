package webhook

import (
	"context"
	"errors"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/server/feed"
)

// Attachment is a session of a run. It is the sink of its events.
type Attachment struct {
	run    *run
	stored chan error // gets the outcome once the run is durable in the ledger; nil = it is

	// Guarded by Dispatcher.mu.
	at      feed.Cursor // of the last event
	changed bool        // CatchUp was called: the journal may have more events than the session sent
}

var (
	_ engine.Sink       = (*Attachment)(nil)
	_ engine.ReplaySink = (*Attachment)(nil)
)

// Attach prepares a session of a run: no event that the session sends is lost, even if the
// process is killed. isNew says that the run has no journal yet; its caller must call Stored.
// For another run, hooks that are new to it get the events that follow. The caller must close
// the Attachment.
func (b *Outbox) Attach(ctx context.Context, in engine.Input, isNew bool) (*Attachment, error) {
	mu := &b.d.mu
	mu.Lock()
	defer mu.Unlock()
	if isNew {
		b.forget(in.RunID)
	}
	r := b.runs[in.RunID]
	if r == nil {
		r = &run{box: b, id: in.RunID, agent: in.Agent, streams: map[string]*stream{}}
	}
	a := &Attachment{run: r}
	for {
		missing := b.missing(r)
		if len(missing) == 0 {
			r.session, b.runs[r.id] = a, r
			return a, nil
		}
		mu.Unlock()
		err := a.enter(ctx, missing, isNew)
		mu.Lock()
		if err != nil {
			return nil, err
		}
		b.runs[r.id] = r
		for name := range missing {
			if s := b.d.senders[name]; s != nil && s.hook.takes(b.Name, r.agent) {
				r.add(s, a.at)
			} else {
				b.ledger.end(r.id, name)
			}
		}
	}
}

// enter stores hooks of a run in the ledger.
func (a *Attachment) enter(ctx context.Context, hooks map[string]bool, isNew bool) error {
	b := a.run.box
	if !isNew {
		last := &lastEvent{}
		if err := b.Replay(ctx, a.run.id, last); err != nil {
			return err
		}
		a.at = last.at
	}
	at := map[string]feed.Cursor{}
	for name := range hooks {
		at[name] = a.at
	}
	if err := b.ledger.add(a.run.id, a.run.agent, at); err != nil || !isNew {
		return errors.Join(err, b.ledger.sync())
	}
	a.stored = make(chan error, 1)
	go func() { a.stored <- b.ledger.sync() }()
	return nil
}

// Stored returns once Attach holds for a power failure, too. It must be called at most once.
func (a *Attachment) Stored() error {
	if a.stored == nil {
		return nil
	}
	return <-a.stored
}

// lastEvent is a sink that remembers the last event.
type lastEvent struct{ at feed.Cursor }

// Send implements engine.Sink.
func (l *lastEvent) Send(ev engine.Event) {
	if ev.Seq != 0 {
		l.at = feed.Cursor{Rewinds: ev.Rewinds, Seq: ev.Seq}
	}
}

// Send adds an event.
func (a *Attachment) Send(ev engine.Event) {
	if ev.Seq == 0 {
		return
	}
	mu := &a.run.box.d.mu
	mu.Lock()
	defer mu.Unlock()
	a.at = feed.Cursor{Rewinds: ev.Rewinds, Seq: ev.Seq}
	a.run.offer(&ev)
}

// Replay adds an event of an earlier session.
func (a *Attachment) Replay(ev engine.Event) { a.Send(ev) }

// Close ends the session.
func (a *Attachment) Close() {
	mu := &a.run.box.d.mu
	mu.Lock()
	defer mu.Unlock()
	if a.run.session == a {
		a.run.session = nil
	}
	if a.changed {
		a.run.box.catchUpLater(a.run.id)
	}
	a.run.tryEnd()
}

// Discard is Close for a new run that could not be stored.
func (a *Attachment) Discard() {
	mu := &a.run.box.d.mu
	mu.Lock()
	defer mu.Unlock()
	a.run.session = nil
	if b := a.run.box; b.runs[a.run.id] == a.run {
		b.forget(a.run.id)
	}
}

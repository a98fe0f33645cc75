package webhook

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/server/feed"
)

// state is what happens to a stream.
type state int

const (
	idle    state = iota
	ready         // in sender.ready
	busy          // a worker of the sender has it
	delayed       // until its timer fires
	removed
)

// maxLoad is how many bytes of messages of a run are read from its journal at once.
const maxLoad = 256 << 10

// maxKept is the size up to which the next message of a stream stays in memory, whatever the
// hook holds, so that an attempt need not read the journal.
const maxKept = 4 << 10

// loadRetry is the time after which a journal that could not be read is read again.
const loadRetry = time.Minute

// stream has the messages about one run for one hook. They are delivered one after the
// other. Dispatcher.mu guards its fields.
type stream struct {
	of     *run
	sender *sender
	state  state
	timer  *time.Timer // if delayed

	done     feed.Cursor // the last event that needs no further attempt
	seen     feed.Cursor // the last event of the run
	ended    bool        // which is the end of the run
	waiting  int         // messages about events after done, up to seen
	held     []message   // the first of them; the others are read from the journal
	attempts int         // of held[0]
}

// offer adds an event of the run, unless the stream has it. The caller holds mu.
func (x *stream) offer(ev *engine.Event) {
	at := feed.Cursor{Rewinds: ev.Rewinds, Seq: ev.Seq}
	if x.state == removed || at.Compare(x.seen) <= 0 {
		return
	}
	x.seen, x.ended = at, ev.Type == engine.RunCompleted
	if !x.sender.hook.wants(ev) {
		return
	}
	full := x.sender.held >= maxHeld
	if len(x.held) == x.waiting && (!full || x.waiting == 0) {
		if m := x.message(ev); !full || len(m.body) <= maxKept {
			x.hold(m)
		}
	}
	x.waiting++
	x.sender.push(x)
}

func (x *stream) message(ev *engine.Event) message {
	return newMessage(x.sender.hook.Name, x.of.box.Name, x.of.agent, ev)
}

func (x *stream) hold(m message) {
	x.held = append(x.held, m)
	x.sender.held += len(m.body)
}

// drop frees the messages in memory but the first n.
func (x *stream) drop(n int) {
	for i := n; i < len(x.held); i++ {
		x.sender.held -= len(x.held[i].body)
	}
	x.held = slices.Clone(x.held[:min(n, len(x.held))])
}

// move gives the stream to another sender, which sends at once. The caller holds mu.
func (x *stream) move(to *sender) {
	for _, m := range x.held {
		x.sender.held -= len(m.body)
		to.held += len(m.body)
	}
	x.sender = to
	if x.state == delayed {
		x.timer.Stop()
	}
	if x.state == delayed || x.state == ready {
		x.state = idle
	}
	to.push(x)
}

// attempted continues after an attempt. The caller holds mu.
func (x *stream) attempted(m message, out outcome) {
	if x.state != busy {
		return
	}
	s, of := x.sender, x.of
	switch st := of.box.statsOf(s.hook.Name); {
	case out.err == nil:
		st.delivered++
		s.succeeded()
		x.settle(m)
	case s.d.ctx.Err() != nil: // the server is shutting down
		x.state = idle
	default:
		x.attempts++
		st.last = &Failure{At: time.Now().UTC(), Run: of.id, Cursor: m.cursor.String(), Type: string(m.kind), Error: clientError(out.err).Error(), Attempt: x.attempts}
		s.failed(out, "run_id", of.id, "tenant", of.box.Name, "attempt", x.attempts)
		if x.attempts == maxAttempts {
			st.failed++
			s.d.o.Log.Error("webhook delivery failed for good", "webhook", s.hook.Name, "tenant", of.box.Name, "run_id", of.id,
				"event", string(m.kind), "cursor", m.cursor.String(), "id", m.id, "attempts", x.attempts, "error", out.err)
			x.settle(m)
			return
		}
		x.delay(wait(x.attempts, out))
	}
}

// settle records that the first message needs no further attempt.
func (x *stream) settle(m message) {
	x.held[0] = message{}
	x.held = x.held[1:]
	x.sender.held -= len(m.body)
	x.waiting--
	x.done, x.attempts = m.cursor, 0
	x.of.box.ledger.settle(x.of.id, x.sender.hook.Name, m.cursor)
}

// next makes a stream that a worker has finished with wait for its next turn, or for events,
// or ends it. The caller holds mu.
func (x *stream) next() {
	if x.state == busy {
		x.state = idle
	}
	if x.waiting > 0 {
		x.sender.push(x)
	} else {
		x.tryEnd()
	}
}

// delay makes the stream wait for the next attempt. If the hook holds too much, the messages
// are read again then, but for a small first one.
func (x *stream) delay(d time.Duration) {
	if x.sender.held > maxHeld {
		n := 0
		if len(x.held) > 0 && len(x.held[0].body) <= maxKept {
			n = 1
		}
		x.drop(n)
	}
	if x.state = idle; x.sender.gone || x.sender.d.closing {
		return
	}
	x.state = delayed
	mu := &x.sender.d.mu
	x.timer = time.AfterFunc(d, func() {
		mu.Lock()
		defer mu.Unlock()
		x.resume()
	})
}

// resume ends a delay.
func (x *stream) resume() {
	if x.state == delayed {
		x.timer.Stop()
		x.state = idle
		x.sender.push(x)
	}
}

// tryEnd removes the stream if the run has ended and nothing is left to send. A session may
// still add events, since a run that stopped at a limit can be resumed.
func (x *stream) tryEnd() {
	if x.state == idle && x.ended && x.waiting == 0 && x.of.session == nil {
		x.remove()
	}
}

// remove removes the stream for good.
func (x *stream) remove() {
	if x.timer != nil {
		x.timer.Stop()
	}
	x.drop(0)
	x.state = removed
	x.of.box.ledger.end(x.of.id, x.sender.hook.Name)
	if delete(x.of.streams, x.sender.hook.Name); len(x.of.streams) == 0 && x.of.session == nil {
		delete(x.of.box.runs, x.of.id)
	}
}

// load reads the next messages from the journal. The caller holds mu, which load releases
// meanwhile.
func (x *stream) load() {
	box, d, waiting := x.of.box, x.sender.d, x.waiting
	ctx, stop := context.WithCancel(d.ctx)
	defer stop()
	l := &loader{stream: x, hook: x.sender.hook, after: x.done, until: x.seen, stop: stop}
	d.mu.Unlock()
	err := box.Replay(ctx, x.of.id, l)
	d.mu.Lock()
	switch {
	case x.state != busy:
	case errors.As(err, new(*runs.NotFoundError)):
		d.o.Log.Warn("webhook messages about a deleted run are dropped", "webhook", l.hook.Name, "run_id", x.of.id, "tenant", box.Name, "messages", x.waiting)
		x.remove()
	case err != nil && !l.stopped && d.ctx.Err() == nil:
		d.o.Log.Warn("read a run for a webhook", "run_id", x.of.id, "tenant", box.Name, "error", err)
		x.delay(loadRetry)
	default:
		for _, m := range l.messages {
			x.hold(m)
		}
		if !l.full && d.ctx.Err() == nil { // what is not there was voided, or is not wanted any more
			x.waiting += len(l.messages) - waiting
		}
	}
}

// loader collects the messages of a stream from its journal.
type loader struct {
	stream       *stream
	hook         *Hook
	after, until feed.Cursor
	stop         func()
	stopped      bool
	full         bool // there may be more
	bytes        int
	messages     []message
}

// Send implements engine.Sink.
func (l *loader) Send(ev engine.Event) {
	at := feed.Cursor{Rewinds: ev.Rewinds, Seq: ev.Seq}
	if l.stopped || ev.Seq == 0 || at.Compare(l.after) <= 0 {
		return
	}
	if at.Compare(l.until) <= 0 && l.hook.wants(&ev) {
		m := newMessage(l.hook.Name, l.stream.of.box.Name, l.stream.of.agent, &ev)
		l.messages = append(l.messages, m)
		l.bytes += len(m.body)
		l.full = l.bytes >= maxLoad && at != l.until
	}
	if l.full || at.Compare(l.until) >= 0 {
		l.stopped = true
		l.stop()
	}
}

package kernel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
)

// MaxMessages is how many messages a run accepts.
const MaxMessages = 100

// Message is a text for a run that is under way.
type Message struct {
	ID   string `json:"id"` // unique within the run: a message with a known id is not stored again
	Text string `json:"text"`
	// Interrupt ends the effects under way that are Interruptible.
	Interrupt bool `json:"interrupt,omitempty"`

	By json.RawMessage `json:"-"` // who sent it; nil = Options.By

	interrupts bool // at its delivery; of messages delivered together only the last does
}

// said is the body of a message's record.
type said struct {
	Message

	Interrupts bool `json:"interrupts,omitempty"`
}

// Errors of messages that are not stored.
var (
	ErrMessageConflict = errors.New("a message with this id has another text")
	ErrTooManyMessages = fmt.Errorf("a run accepts at most %d messages", MaxMessages)
	// ErrInboxClosed reports that the session ended before it stored the message. The run
	// may have ended, or a later session may accept it.
	ErrInboxClosed = errors.New("the session has ended")
)

// messages are the texts of a run's messages by id.
type messages map[string]string

// check reports whether a message is already stored, or why it cannot be.
func (m messages) check(msg Message) (stored bool, err error) {
	text, stored := m[msg.ID]
	switch {
	case stored && text != msg.Text:
		return false, ErrMessageConflict
	case !stored && len(m) >= MaxMessages:
		return false, ErrTooManyMessages
	}
	return stored, nil
}

func (m *messages) add(msg Message) {
	if *m == nil {
		*m = messages{}
	}
	(*m)[msg.ID] = msg.Text
}

// MessageOf returns the message in a record.
func MessageOf(rec *journal.Record) Message {
	var body said
	_ = json.Unmarshal(rec.Body, &body) // this package wrote it
	m := body.Message
	m.By, m.interrupts = rec.By, body.Interrupts
	return m
}

// Interrupts reports whether the delivery of a recorded message ends effects under way.
func (m Message) Interrupts() bool { return m.interrupts }

func (m Message) record(s *stamp) journal.Record {
	return s.applyTo(journal.Record{Kind: journal.Said, Body: jsonvalue.Encode(said{m, m.interrupts}), Encoded: true})
}

// AppendMessage stores a message in the journal of a run that no session executes. It
// returns once the message is durable. The next session delivers it before anything else
// happens. A message that is stored already is not stored again. The error is
// ErrInboxClosed if the run has ended, ErrMessageConflict or ErrTooManyMessages.
func AppendMessage(j journal.Journal, m Message, at time.Time) error {
	recs, err := j.Load()
	if err != nil {
		return &StoreError{err}
	}
	live := journal.WithoutVoided(recs)
	known := messages{}
	for i := range live {
		if live[i].Kind == journal.Said {
			said := MessageOf(&live[i])
			known[said.ID] = said.Text
		}
	}
	stored, err := known.check(m)
	switch {
	case stored, errors.Is(err, ErrMessageConflict):
		return err
	case len(live) == 0 || live[len(live)-1].Kind == journal.End:
		return ErrInboxClosed
	case err != nil:
		return err
	}
	last := recs[len(recs)-1]
	m.interrupts = m.Interrupt
	rec := m.record(&stamp{m.By, at.UnixNano()})
	rec.Seq, rec.At, rec.Deferred = last.Seq+1, last.At, true
	t, err := j.Append([]journal.Record{rec})
	if err == nil {
		err = t.Wait()
	}
	if err != nil {
		return &StoreError{err}
	}
	return nil
}

// Inbox passes messages to the session of a run. The zero value is ready to use, for one
// session. It is safe for concurrent use.
type Inbox struct {
	mu     sync.Mutex
	queue  []*Delivery
	wake   func() // of the session; nil = none yet
	closed bool
}

// Delivery is a message that was posted.
type Delivery struct {
	message Message
	done    chan struct{} // closed when ticket and err are set
	ticket  *journal.Ticket
	err     error
}

// Post passes a message to the session. It does not block.
func (b *Inbox) Post(m Message) *Delivery {
	d := &Delivery{message: m, done: make(chan struct{})}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		d.finish(nil, ErrInboxClosed)
		return d
	}
	b.queue = append(b.queue, d)
	if b.wake != nil {
		b.wake()
	}
	return d
}

// Wait returns once the message is durable. The error is ErrMessageConflict,
// ErrTooManyMessages or ErrInboxClosed if it is not stored, and that of ctx if this is not
// known yet.
func (d *Delivery) Wait(ctx context.Context) error {
	select {
	case <-d.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if d.err == nil {
		d.err = d.ticket.Wait()
	}
	return d.err
}

// Settled reports whether Wait returns at once, but for a commit.
func (d *Delivery) Settled() bool { return isClosed(d.done) }

func (d *Delivery) finish(t *journal.Ticket, err error) {
	d.ticket, d.err = t, err
	close(d.done)
}

// Close rejects messages that are not stored, and all later ones. The session closes its
// inbox when it ends.
func (b *Inbox) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.wake = true, nil
	for _, d := range b.queue {
		d.finish(nil, ErrInboxClosed)
	}
	b.queue = nil
}

func (b *Inbox) attach(wake func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wake = wake
}

// hasMessages reports whether a message has arrived.
func (r *run) hasMessages() bool {
	b := r.o.Inbox
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.queue) > 0
}

// take removes and returns the messages that have arrived.
func (b *Inbox) take() []*Delivery {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	arrived := b.queue
	b.queue = nil
	return arrived
}

// deliverMessages journals and delivers the messages that have arrived, and appends the
// tick. deferred marks them as arrived while the session stops.
func (r *run) deliverMessages(deferred bool) (*journal.Ticket, error) {
	r.replayMessages()
	arrived := r.o.Inbox.take()
	if len(arrived) == 0 {
		return r.flush()
	}
	errs := make([]error, len(arrived))
	var accepted []Message
	interrupts := false
	for i, d := range arrived {
		var stored bool
		if stored, errs[i] = r.messages.check(d.message); !stored && errs[i] == nil {
			accepted, interrupts = append(accepted, d.message), interrupts || d.message.Interrupt
			r.messages.add(d.message)
		}
	}
	for i, m := range accepted {
		m.interrupts = interrupts && i == len(accepted)-1
		rec := m.record(r.stampBy(m.By))
		rec.Deferred = deferred
		r.journalMessage(rec)
	}
	t, err := r.flush()
	for i, d := range arrived {
		d.finish(t, cmp.Or(errs[i], err))
	}
	return t, err
}

// journalMessage journals a message and delivers it.
func (r *run) journalMessage(rec journal.Record) {
	r.add(rec)
	r.receive(&rec)
}

// receive delivers a message, new or replayed.
func (r *run) receive(rec *journal.Record) {
	m := MessageOf(rec)
	r.messages.add(m)
	if m.interrupts {
		r.interrupting = r.issued
	}
	if r.o.OnMessage == nil {
		return
	}
	var at time.Time
	if rec.WallTime != 0 {
		at = time.Unix(0, rec.WallTime).UTC()
	}
	r.o.OnMessage(m, at)
}

// next moves on to the next record of the journal. The messages that were journaled while
// no session executed the run, or while one stopped, arrive with the record before them.
func (r *run) next() {
	r.pos++
	from := r.pos
	for r.pos < len(r.replay) && r.replay[r.pos].Kind == journal.Said && r.replay[r.pos].Deferred {
		r.pos++
	}
	for i := from; i < r.pos; i++ {
		r.advanceTo(&r.replay[i])
		r.receive(&r.replay[i])
	}
}

// carryOverMessages journals the voided messages again, with the change that voids them.
func (r *run) carryOverMessages(void []journal.Record) {
	for i := range void {
		if rec := void[i]; rec.Kind == journal.Said {
			rec.Deferred = true
			r.journalMessage(rec)
		}
	}
}

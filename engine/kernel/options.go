package kernel

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/journal"
)

// Options are the options of one session of a run.
type Options struct {
	RunID   string          // may be "" when resuming
	Start   []byte          // body of a new run's start record: JSON
	Journal journal.Journal // of this run only
	Virtual bool            // virtual time: delays take no time, and new runs write identical journals
	Strict  bool            // wait for every commit; otherwise only writes, questions and the end wait

	Answers map[string]json.RawMessage // answers to questions, by path
	Resolve map[string]string          // decisions about writes in doubt, by path: done:<json>, redo or skip

	// By is who makes the decisions of this session, a JSON object that the journal
	// stores with each of them; nil = unknown. CancelledBy returns the same for the
	// decision to cancel; nil = By.
	By          json.RawMessage
	CancelledBy func() json.RawMessage

	// Permit, if not nil, is called before a decision that a human makes in this session is
	// journaled, except a cancellation. It returns the author to journal, nil = unknown. An
	// error leaves the effect open.
	Permit func(Proposal) (by json.RawMessage, err error)

	// OnDecision, if not nil, is called for each decision, new or replayed.
	OnDecision func(Decision)

	// ChangeBody, if not nil, is called once for the body of a change record: when the
	// code reaches a limit at which it ended before (see Scope.ReevaluateLimits), or at
	// the end of the journal. OnChange is called with each such body, new or replayed.
	ChangeBody func() []byte
	OnChange   func(body []byte)

	// Inbox passes messages to the session; nil = it accepts none. OnMessage is called with
	// each message, new or replayed, before node code continues; at is the wall time at which
	// it was stored, zero if the journal does not have it.
	Inbox     *Inbox
	OnMessage func(m Message, at time.Time)

	// Recorded supplies effects with the outcomes of another run; nil = none.
	Recorded Recorded

	// Follow makes the session only follow the journal: nothing is performed or appended.
	// It is called at the end of the records for new ones; if it returns none the session
	// ends with ErrPaused.
	Follow       func() ([]journal.Record, error)
	EmitOnReplay bool // also call the emits of replayed records

	WallClock func() time.Time // nil = time.Now, or 1970 in virtual time
	Cancel    <-chan struct{}  // closed to cancel the run
	Grace     time.Duration    // how long open effects may continue once ctx is done

	World   World                // where the session runs; nil = this process, with the fields below
	Clock   func() time.Duration // monotonic; nil = the system clock
	Workers *Workers             // goroutines shared with other runs; nil = none

	// Ask asks a human during the session, after all earlier emits: one question at a time,
	// or all open ones at once if AskAll is set. A nil func, an error or an empty answer
	// leave the question open.
	Ask    func(ctx context.Context, path string, request []byte) (Given, error)
	AskAll bool

	// Decided, if not nil, is called once a decision made in this session about the effect at
	// path is durable: an answer, or what to do about a write in doubt.
	Decided func(path string)
}

// Given is an answer given during the session.
type Given struct {
	Body json.RawMessage
	By   json.RawMessage // who answered; nil = Options.By
}

// Proposal is a decision that is not journaled yet.
type Proposal struct {
	Path    string
	Answer  []byte          // to a question
	Resolve string          // of a write in doubt: see Options.Resolve
	By      json.RawMessage // as Ask returned it; nil = Options.By
}

// Decision is a human decision.
type Decision struct {
	Record  *journal.Record // its result, redo, cut, change or answer record; valid until the next decision
	Class   journal.Class   // class of the effect it is about; 0 = it is about the run
	Request []byte          // of that effect: the body of its intent
}

// Recorded supplies effects with the outcomes of another run.
type Recorded interface {
	// Find is called once for each effect that would be performed. An error ends the
	// session.
	Find(EffectQuery) (RecordedOutcome, error)
}

// RecordedMessages is a Recorded of a run that received messages. They are delivered again
// at the same places.
type RecordedMessages interface {
	Recorded
	Messages() []RecordedMessage
}

// RecordedMessage is a message of another run, and its place there.
type RecordedMessage struct {
	Record  *journal.Record
	AtStart bool   // it follows the start record
	With    string // path of the outcome that it was delivered with; "" = none
	Request string // path of the last effect requested before it; "" = none
	Outcome string // path of the last outcome before it; "" = none
}

// EffectQuery describes an effect about to be performed.
type EffectQuery struct {
	Path    string
	Class   journal.Class
	Layer   string // Effect.Layer
	Digest  journal.Digest
	Request []byte // body of its intent
	Detail  any    // Effect.Detail
}

// RecordedOutcome is the recorded outcome of an effect; the zero value means that the
// effect is performed.
type RecordedOutcome struct {
	// Withheld means that the effect is not performed, and never has an outcome. The session
	// ends with ErrWithheld once nothing else can happen.
	Withheld bool
	Result   *journal.Record // result record
	// Interrupted reports that a message ended the effect. It is not performed before the
	// message is delivered. If the message does not come, Otherwise ends the session; nil = the
	// effect is performed.
	Interrupted    bool
	Otherwise      error
	UnknownOutcome bool   // a write that was started and whose outcome is unknown
	Key            string // with Doubt: idempotency key of the write; "" = that of the effect
	Why            []byte // with Doubt: see Open
}

// Stats are the statistics of one session.
type Stats struct {
	Replayed  int           // results taken from the journal
	Performed int           // effects started
	Commits   int           // ticks appended
	Changed   bool          // the change was applied
	Active    time.Duration // active time of the run at its last record
	Limit     uint64        // sequence number of the record after the limit at which the run ended; 0 = none
}

func (o *Options) complete() error {
	for path, how := range o.Resolve {
		body, done := strings.CutPrefix(how, "done:")
		if how != "redo" && how != "skip" && (!done || !json.Valid([]byte(body))) {
			return fmt.Errorf("resolve %s: use done:<json>, redo or skip, not %q", path, how)
		}
	}
	if o.Clock == nil {
		began := time.Now()
		o.Clock = func() time.Duration { return time.Since(began) }
	}
	if o.WallClock == nil {
		o.WallClock = time.Now
		if o.Virtual {
			o.WallClock = func() time.Time { return time.Unix(0, 0) }
		}
	}
	return nil
}

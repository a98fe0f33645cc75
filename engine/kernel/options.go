package kernel

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/journal"
)

// Options of one session of a run.
type Options struct {
	RunID   string          // "" when resuming = the journal's
	Start   []byte          // body of a new run's start record: JSON
	Journal journal.Journal // of this run alone
	Virtual bool            // virtual time: delays cost nothing, and two fresh runs give the same journal
	Strict  bool            // every tick waits for its commit; else only writes, questions and the end do

	Answers map[string]json.RawMessage // to questions, by path
	Resolve map[string]string          // writes in doubt, by path: done:<json>, redo or skip

	// By says who makes the decisions of this session: a JSON object, which the
	// journal keeps with each of them. Nil = it is not kept. CancelledBy is asked
	// the same of the decision to cancel; nil = By.
	By          json.RawMessage
	CancelledBy func() json.RawMessage

	// Decided, when it is not nil, is told each decision, live and re-run.
	Decided func(Decision)

	// Change, when it is not nil, is asked once for the body of a change record:
	// where the code comes to a limit again at which it ended (see
	// Scope.Reconsider), else where the journal ends. Changed is told each such
	// body, live and re-run.
	Change  func() []byte
	Changed func(body []byte)

	// Recorded answers effects from what another run recorded; nil = none.
	Recorded Recorded

	// More makes the session only look on: nothing is performed or appended.
	// Where the records end it is asked for those that came since; none ends
	// the session with ErrPaused.
	More func() ([]journal.Record, error)
	Tell bool // emits of what is replayed are called too

	Clock  func() time.Duration // monotonic; nil = the machine's
	Wall   func() time.Time     // nil = time.Now; 1970 in virtual time
	Cancel <-chan struct{}      // closed by a decision to cancel
	Grace  time.Duration        // how long open effects may go on once ctx is done

	// Ask asks a person in place, one question at a time, after everything that was
	// emitted before it. Nil, an error or a nil answer leave the question open.
	Ask func(ctx context.Context, path string, request []byte) (json.RawMessage, error)
}

// Decision is a decision of a person.
type Decision struct {
	Record  *journal.Record // that keeps it: a result, redo, cut, change or answer; good until the next one
	Class   journal.Class   // of the effect that it is about; 0 = it is about the run
	Request []byte          // of that effect, as its intent holds it
}

// Recorded answers effects from what another run recorded.
type Recorded interface {
	// Find is asked once for each effect that would be performed. An error
	// ends the session.
	Find(Asked) (Found, error)
}

// Asked is an effect that is about to be performed.
type Asked struct {
	Path    string
	Class   journal.Class
	Layer   string // of the effect, as Effect.Layer says
	Digest  [32]byte
	Request []byte // as its intent holds it
	Detail  any    // of the effect
}

// Found is what there is for it; the zero value says that it is performed.
type Found struct {
	Result *journal.Record // its outcome
	Doubt  bool            // a write that was begun and whose outcome is unknown
	Key    string          // of Doubt: what the write was performed with; "" = as the effect says
	Why    []byte          // of Doubt: see Open
}

// Stats of one session.
type Stats struct {
	Replayed  int           // results taken from the journal
	Performed int           // effects started
	Commits   int           // ticks appended
	Changed   bool          // the change was taken over
	Active    time.Duration // active time of the run at its last record
	Limit     uint64        // seq of the record behind the limit that the run ended at; 0 = it met none
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
	if o.Wall == nil {
		o.Wall = time.Now
		if o.Virtual {
			o.Wall = func() time.Time { return time.Unix(0, 0) }
		}
	}
	return nil
}

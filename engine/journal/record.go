package journal

import "github.com/pexctl/pex/engine/jsonvalue"

// Kind says what a record means.
type Kind uint8

// The kinds of records. Numbers and names are for ever: never reuse one.
const (
	Start  Kind = 1  // the run's first record: its id, wall time and input
	Intent Kind = 2  // an effect was asked for
	Result Kind = 3  // an effect's outcome; its place in the journal is its delivery order
	Redo   Kind = 4  // a resumed session performs an open effect again
	Cut    Kind = 5  // a decision from outside: cancel
	Marker Kind = 6  // a session stopped here with every branch waiting
	End    Kind = 7  // the run's last record
	Change Kind = 8  // the run goes on under other terms; its Voids say from where
	Doubt  Kind = 9  // a write was performed and its outcome is unknown: the body is a Failure; it stays open
	Answer Kind = 10 // a person answered a question that was asked while an effect was under way: the body says what
)

// Class of an effect: what its intent needs before the effect may be
// performed, and what a crash does to it.
type Class uint8

// The classes of effects.
const (
	Read       Class = 1 // may be performed again; starts beside its commit
	Idempotent Class = 2 // may be performed again with the same key
	Write      Class = 3 // waits for its commit; never performed again by itself
	Timer      Class = 4 // active time passes
	Question   Class = 5 // a person answers
)

// Status of a result.
type Status uint8

// The statuses of a result.
const (
	OK      Status = 0
	Failed  Status = 1 // the body is a Failure
	Skipped Status = 2 // a person decided that the effect stays undone
)

// Record is one entry of a journal.
type Record struct {
	Seq     uint64 // counts from 1
	Kind    Kind
	Class   Class
	Status  Status
	Held    bool // came while the session stopped: delivered by the next one, with its neighbors
	Encoded bool // Body came from Encode, so nobody needs to check it
	Attempt uint16
	At      int64  // active nanoseconds since the run began: the only clock that node code sees
	Wall    int64  // start record, decisions of people: wall time in Unix nanoseconds; 0 = not kept
	Voids   uint64 // change record: all from this seq to it no longer counts; 0 = none
	Path    string // effect path; start record: run id
	Digest  [32]byte
	By      []byte // decisions of people: who decided, a JSON object; nil = not kept
	Body    []byte // request, result, failure or input: JSON, or any UTF-8 text
	Value   any    // a result not yet encoded; only a journal in memory keeps it
}

// EnsureBody encodes a result that was held as a Go value.
func (r *Record) EnsureBody() error {
	if r.Body != nil || r.Value == nil {
		return nil
	}
	b, err := jsonvalue.Marshal(r.Value)
	r.Body, r.Encoded = b, true
	return err
}

package journal

import (
	"crypto/sha256"

	"github.com/pexctl/pex/engine/jsonvalue"
)

// Kind is the meaning of a record.
type Kind uint8

// The kinds of records. Numbers and names are permanent: never reuse one.
const (
	Start          Kind = 1  // the run's first record: id, wall time and input
	Intent         Kind = 2  // an effect was requested
	Result         Kind = 3  // an effect's outcome; results are delivered in journal order
	Redo           Kind = 4  // a resumed session performs an open effect again
	Cancel         Kind = 5  // an external decision: cancel
	Marker         Kind = 6  // a session stopped here with every branch waiting
	End            Kind = 7  // the run's last record
	Change         Kind = 8  // the run continues with new limits; Voids is where from
	UnknownOutcome Kind = 9  // a write was performed with an unknown outcome; the body is a Failure; it stays open
	Answer         Kind = 10 // a human answered a question during an effect; the body has both
	Said           Kind = 11 // a user sent a message to the run; the body has its id and text (ADR 38)
)

// Class of an effect: what must be durable before the effect starts, and how a crash
// affects it.
type Class uint8

// The classes of effects.
const (
	Read       Class = 1 // repeatable; starts while its intent is committed
	Idempotent Class = 2 // repeatable with the same key
	Write      Class = 3 // starts after its intent is durable; never repeated automatically
	Timer      Class = 4 // active time passes
	Question   Class = 5 // waits for a human's answer
)

// Digest identifies a request: the first half of its SHA-256. Zero is unknown.
type Digest [16]byte

// DigestOf returns the digest of b.
func DigestOf(b []byte) Digest {
	sum := sha256.Sum256(b)
	return Digest(sum[:])
}

// Status of a result.
type Status uint8

// The statuses of a result.
const (
	OK      Status = 0
	Failed  Status = 1 // the body is a Failure
	Skipped Status = 2 // a human decided to leave the effect undone
)

// Record is an entry of a journal.
type Record struct {
	Seq      uint64 // from 1
	Kind     Kind
	Class    Class
	Status   Status
	Deferred bool // journaled while the session stopped; delivered by the next one together with adjacent held records. A message: delivered together with the record before it
	Encoded  bool // Body was written by Encode and needs no validation
	Sync     bool // must be durable before it counts, whatever its kind; not stored
	Attempt  uint16
	At       int64  // active nanoseconds since the run started, the only clock of node code
	WallTime int64  // start record, human decisions and messages: wall time in Unix nanoseconds; 0 = unknown
	Voids    uint64 // change record: voids the records from this sequence number up to itself; 0 = none
	Path     string // effect path; start record: run id
	Digest   Digest
	By       []byte // human decisions and messages: who made them, a JSON object; nil = unknown
	Body     []byte // request, result, failure or input: JSON, or other UTF-8 text
	Value    any    // a result not encoded yet; only in-memory journals store it
}

// syncs reports whether a record must be durable before it counts: what must not happen
// twice, what a human decided, and where a session ends. A power loss may take any other
// record of the last 100 ms, and then reads are performed again (ADR 0032).
func (r *Record) syncs() bool {
	switch r.Kind {
	case Intent:
		return r.Sync || r.Class == Write || r.Class == Question
	case Cancel, Marker, End, Change, UnknownOutcome, Answer, Said:
		return true
	case Start, Result, Redo:
	}
	return r.Sync || len(r.By) > 0
}

// EnsureBody encodes Value into Body if Body is not set.
func (r *Record) EnsureBody() error {
	if r.Body != nil || r.Value == nil {
		return nil
	}
	b, err := jsonvalue.Marshal(r.Value)
	r.Body, r.Encoded = b, true
	return err
}

// WithoutVoided returns the records that are not voided by a later change record. The
// file keeps all of them; a replay uses these.
func WithoutVoided(recs []Record) []Record {
	var out []Record // nil = nothing is voided so far
	for i := range recs {
		if v := recs[i].Voids; recs[i].Kind == Change && v != 0 && v <= recs[i].Seq {
			if out == nil {
				out = append(make([]Record, 0, len(recs)), recs[:i]...)
			}
			out = recordsBefore(out, v)
		}
		if out != nil {
			out = append(out, recs[i])
		}
	}
	if out == nil {
		return recs
	}
	return out
}

// recordsBefore returns the records before a sequence number.
func recordsBefore(recs []Record, seq uint64) []Record {
	n := len(recs)
	for n > 0 && recs[n-1].Seq >= seq {
		n--
	}
	return recs[:n]
}

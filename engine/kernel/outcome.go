package kernel

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
)

// Outcome is the outcome of a task.
type Outcome struct {
	Status  journal.Status
	Encoded bool // Body was written by journal.Encode

	declined bool // a question that was not answered inline

	Body    []byte // JSON of the result, or of the journal.Failure
	Unknown []byte // of a write: JSON of the journal.Failure why it may have taken effect or not
	// Lost says that what performed the task has ended, so that the outcome is unknown. The
	// session repeats the task if it may.
	Lost  bool
	Notes []byte // for Work.Note
	Fatal error  // ends the session

	value any    // the result, in the process that performed the task
	stamp *stamp // of a decision; nil = not a decision
}

// stamp is who made a decision, and when.
type stamp struct {
	by   []byte
	wall int64
}

// applyTo returns the record with the stamp; a nil stamp changes nothing.
func (s *stamp) applyTo(rec journal.Record) journal.Record {
	if s != nil {
		rec.By, rec.WallTime = s.by, s.wall
	}
	return rec
}

// Canonical is a result that needs no decoding in the session that performed it: Canonical
// returns it as decoding its JSON returns it, so that node code sees the same value in a
// replay. AppendJSON appends the JSON of a canonical value to b.
type Canonical[T any] interface {
	Canonical() T
	AppendJSON(b []byte) ([]byte, error)
}

// OutcomeOf returns the outcome of an effect at path whose Perform returned v and err.
func OutcomeOf[T any](class journal.Class, path string, v T, err error) Outcome {
	if u, ok := errors.AsType[*Unavailable](err); ok {
		return Outcome{Fatal: u}
	}
	if u, ok := errors.AsType[*UnknownOutcome](err); ok && class == journal.Write {
		return Outcome{Unknown: u.Why.Encode()}
	}
	if err != nil {
		return failed(err)
	}
	out := Outcome{Encoded: true}
	if known, ok := any(v).(Canonical[T]); ok {
		v = known.Canonical()
		known, _ = any(v).(Canonical[T])
		out.Body, err = known.AppendJSON(nil)
		out.value = v
	} else {
		out.Body, err = jsonvalue.Marshal(v)
	}
	if err != nil {
		return Outcome{Fatal: fmt.Errorf("result of %s has no JSON form: %w", path, err)}
	}
	return out
}

func failed(err error) Outcome {
	return Outcome{Status: journal.Failed, Body: journal.AsFailure(err).Encode(), Encoded: true}
}

// outcomeFormat is the first byte of an encoded outcome.
const outcomeFormat = 1

// ErrOutcomeFormat is returned for bytes that AppendBinary of this version did not write.
var ErrOutcomeFormat = errors.New("the outcome of a task has an unknown format; the worker has another version")

// AppendBinary appends the outcome as another process returns it: with the result only as
// JSON. It must not be Fatal, since only the performing process can act on that.
func (o Outcome) AppendBinary(b []byte) ([]byte, error) {
	if o.Fatal != nil {
		return b, o.Fatal
	}
	if len(o.Body) == 0 && o.value != nil {
		body, err := jsonvalue.Marshal(o.value)
		if err != nil {
			return b, err
		}
		o.Body, o.Encoded = body, true
	}
	b = append(b, outcomeFormat, byte(o.Status), bits(o.Encoded, o.Lost))
	for _, part := range [][]byte{o.Body, o.Unknown, o.Notes} {
		b = binary.AppendUvarint(b, uint64(len(part)))
		b = append(b, part...)
	}
	return b, nil
}

func bits(set ...bool) (b byte) {
	for i, on := range set {
		if on {
			b |= 1 << i
		}
	}
	return b
}

// UnmarshalBinary reads what AppendBinary wrote. The outcome keeps parts of b.
func (o *Outcome) UnmarshalBinary(b []byte) error {
	if len(b) < 3 || b[0] != outcomeFormat || b[2] > bits(true, true) {
		return ErrOutcomeFormat
	}
	out := Outcome{Status: journal.Status(b[1]), Encoded: b[2]&1 != 0, Lost: b[2]&2 != 0}
	b = b[3:]
	for _, part := range []*[]byte{&out.Body, &out.Unknown, &out.Notes} {
		n, used := binary.Uvarint(b)
		if used <= 0 || n > uint64(len(b)-used) {
			return ErrOutcomeFormat
		}
		if b = b[used:]; n > 0 {
			*part = b[:n:n]
		}
		b = b[n:]
	}
	if len(b) > 0 {
		return ErrOutcomeFormat
	}
	*o = out
	return nil
}

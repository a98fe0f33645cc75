package cassette

import (
	"errors"
	"fmt"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/secret"
)

// Recorder is a journal that records beside another one. Whatever goes wrong
// with the recording, the run does not notice: recording stops and Close tells
// why. Like every journal it is used by one session at a time.
type Recorder struct {
	inner journal.Journal
	path  string
	draft *draft // nil = recording has stopped
	press press
	lines int
	err   error
	ahead []byte // room for a tick's lines, to be used again
}

var (
	_ journal.Journal     = (*Recorder)(nil)
	_ journal.ValueKeeper = (*Recorder)(nil)
)

// New records beside inner, without the values of secrets (nil = none are
// known). The file is put in its place by Close; until then what stands there
// stays. The error says that no file can be written there: better now than
// after the run. The caller closes the Recorder when the run is over, and inner
// itself. A process that is killed before leaves no more than a hidden file
// .NAME.*.part; the run's journal has it all, see Save.
func New(inner journal.Journal, path string, secrets *secret.Values) (*Recorder, error) {
	d, err := begin(path)
	if err != nil {
		return nil, fmt.Errorf("record to %s: %w", path, err)
	}
	return &Recorder{inner: inner, path: path, draft: d, press: press{secrets: secrets}}, nil
}

// Load gives the records of inner. The recording begins with them, so that the
// cassette of a resumed run is whole.
func (r *Recorder) Load() ([]journal.Record, error) {
	recs, err := r.inner.Load()
	if err != nil {
		return nil, err
	}
	if r.draft != nil && r.lines > 0 {
		r.press, r.lines = press{secrets: r.press.secrets}, 0
		if err := r.draft.restart(); err != nil {
			r.stop(err)
		}
	}
	r.record(recs)
	return recs, nil
}

// Append appends to inner, and what inner took to the cassette, in one write.
// The ticket is that of inner.
func (r *Recorder) Append(recs []journal.Record) (*journal.Ticket, error) {
	t, err := r.inner.Append(recs)
	if err == nil {
		r.record(recs)
	}
	return t, err
}

// KeepsValues is what inner says.
func (r *Recorder) KeepsValues() bool {
	k, ok := r.inner.(journal.ValueKeeper)
	return ok && k.KeepsValues()
}

func (r *Recorder) record(recs []journal.Record) {
	if r.draft == nil || len(recs) == 0 {
		return
	}
	lines, err := r.press.lines(r.ahead[:0], recs)
	if err == nil {
		err = r.press.refused()
	}
	if err == nil {
		err = r.draft.write(lines)
	}
	if err != nil {
		r.stop(err)
		return
	}
	r.lines += len(recs)
	r.ahead = lines
}

func (r *Recorder) stop(err error) {
	r.draft.drop()
	r.draft, r.err, r.press, r.ahead = nil, err, press{}, nil
}

// Close puts the cassette in its place. An error says that there is none, and
// why: a *Refused when it would have held a secret. A run without a record
// leaves none either. Closing again tells the same.
func (r *Recorder) Close() error {
	if r.draft != nil {
		d := r.draft
		r.draft = nil
		if r.lines == 0 {
			d.drop()
			return nil
		}
		r.err = d.place()
	}
	if r.err == nil {
		return nil
	}
	if _, refused := errors.AsType[*Refused](r.err); refused {
		return r.err
	}
	return fmt.Errorf("record to %s: %w", r.path, r.err)
}

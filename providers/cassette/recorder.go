package cassette

import (
	"errors"
	"fmt"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/secret"
)

// Recorder is a journal that also records a cassette. Errors of the recording do not
// affect the run: recording stops and Close returns the error. One session uses it at a
// time.
type Recorder struct {
	inner   journal.Journal
	path    string
	temp    *tempFile // nil = recording has stopped
	encoder encoder
	lines   int
	err     error
	buf     []byte // reused buffer for the lines of a tick
}

var (
	_ journal.Journal     = (*Recorder)(nil)
	_ journal.ValueKeeper = (*Recorder)(nil)
)

// New records what is appended to inner, redacting secrets (may be nil). The file is
// replaced by Close. New returns an error if no file can be written there. The caller
// must close the Recorder after the run, and then inner. A process killed before Close
// leaves only a hidden file .NAME.*.part; Save can create the cassette from the run's
// journal.
func New(inner journal.Journal, path string, secrets *secret.Values) (*Recorder, error) {
	d, err := newTempFile(path)
	if err != nil {
		return nil, fmt.Errorf("record to %s: %w", path, err)
	}
	return &Recorder{inner: inner, path: path, temp: d, encoder: encoder{secrets: secrets}}, nil
}

// Load returns the records of inner. The recording starts with them, so that the cassette
// of a resumed run is complete.
func (r *Recorder) Load() ([]journal.Record, error) {
	recs, err := r.inner.Load()
	if err != nil {
		return nil, err
	}
	if r.temp != nil && r.lines > 0 {
		r.encoder, r.lines = encoder{secrets: r.encoder.secrets}, 0
		if err := r.temp.restart(); err != nil {
			r.stop(err)
		}
	}
	r.record(recs)
	return recs, nil
}

// Append appends to inner and then to the cassette. The ticket is that of inner.
func (r *Recorder) Append(recs []journal.Record) (*journal.Ticket, error) {
	t, err := r.inner.Append(recs)
	if err == nil {
		r.record(recs)
	}
	return t, err
}

// KeepsValues implements journal.ValueKeeper.
func (r *Recorder) KeepsValues() bool {
	k, ok := r.inner.(journal.ValueKeeper)
	return ok && k.KeepsValues()
}

func (r *Recorder) record(recs []journal.Record) {
	if r.temp == nil || len(recs) == 0 {
		return
	}
	lines, err := r.encoder.lines(r.buf[:0], recs)
	if err == nil {
		err = r.encoder.refused()
	}
	if err == nil {
		err = r.temp.write(lines)
	}
	if err != nil {
		r.stop(err)
		return
	}
	r.lines += len(recs)
	r.buf = lines
}

func (r *Recorder) stop(err error) {
	r.temp.discard()
	r.temp, r.err, r.encoder, r.buf = nil, err, encoder{}, nil
}

// Close writes the cassette to its path. An error says why there is none: a *Refused if
// it would have contained a secret. A run without records leaves no file. Further calls
// return the same error.
func (r *Recorder) Close() error {
	if r.temp != nil {
		d := r.temp
		r.temp = nil
		if r.lines == 0 {
			d.discard()
			return nil
		}
		r.err = d.commit()
	}
	if r.err == nil {
		return nil
	}
	if _, refused := errors.AsType[*Refused](r.err); refused {
		return r.err
	}
	return fmt.Errorf("record to %s: %w", r.path, r.err)
}

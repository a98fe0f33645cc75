package cassette

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/journal"
)

// MaxSize is the maximum size of a cassette in bytes.
const MaxSize = 256 << 20

var errSize = fmt.Errorf("it is larger than %d MiB", MaxSize>>20)

// EditedError reports that a cassette was changed after recording, or copied incorrectly.
// It wraps journal.ErrCorrupt.
type EditedError struct {
	Line int // first changed line
	Err  error
}

// Error names the line and how to fix it.
func (e *EditedError) Error() string {
	return fmt.Sprintf("line %d was changed, or lines before it are missing: if you edited it, seal it again with pexctl runs export --reseal FILE", e.Line)
}

// Unwrap returns the journal's error.
func (e *EditedError) Unwrap() error { return e.Err }

// Load reads and verifies a cassette. The error names the file and line: an *EditedError
// if the hash chain is broken, one that wraps journal.ErrNewer if a later version wrote
// it.
func Load(path string) ([]journal.Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cassette: %w", err)
	}
	defer f.Close()
	recs, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("cassette %s: %w", path, err)
	}
	return recs, nil
}

// read is Load for an open file.
func read(from io.Reader) ([]journal.Record, error) {
	b, err := readAll(from)
	if err != nil {
		return nil, err
	}
	// Git may have converted line endings; JSON has none within a line.
	return Decode(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")))
}

// readAll reads up to MaxSize bytes.
func readAll(r io.Reader) ([]byte, error) {
	if f, ok := r.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Size() > MaxSize {
			return nil, errSize
		}
	}
	b, err := io.ReadAll(io.LimitReader(r, MaxSize+1))
	if err == nil && len(b) > MaxSize {
		err = errSize
	}
	return b, err
}

// Decode is Load for bytes; bodies alias them.
func Decode(b []byte) ([]journal.Record, error) {
	c, err := journal.Decode(b)
	switch {
	case err != nil && errors.Is(err, journal.ErrNewer):
		return nil, err
	case err != nil:
		return nil, &EditedError{len(c.Records) + 1, err}
	case c.Good < len(b):
		return nil, &EditedError{len(c.Records) + 1, fmt.Errorf("%w: the last line is truncated", journal.ErrCorrupt)}
	}
	return c.Records, check(c.Records)
}

// check finds problems that a valid hash chain does not rule out, such as requests with dangling references.
func check(recs []journal.Record) error {
	if len(recs) == 0 {
		return errors.New("it is empty")
	}
	if recs[0].Kind != journal.Start {
		return errors.New("line 1: a cassette must start with the start of a run")
	}
	for i := range recs {
		if v := recs[i].Voids; v > recs[i].Seq || v == 1 {
			return fmt.Errorf("line %d: it cannot void line %d", i+1, v)
		}
	}
	if _, err := drift.Requests(recs); err != nil {
		return fmt.Errorf("invalid requests: %w", err)
	}
	return nil
}

package cassette

import (
	"fmt"
	"io"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/secret"
)

// Export writes the cassette of a run. Nothing is written when it is refused:
// the error is a *Refused with all that was found.
func Export(w io.Writer, records []journal.Record, secrets *secret.Values) error {
	b, err := pressAll(records, secrets)
	if err != nil {
		return err
	}
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// Save is Export to a file, which is there whole or, after an error, as it was
// before.
func Save(path string, records []journal.Record, secrets *secret.Values) error {
	b, err := pressAll(records, secrets)
	if err != nil {
		return err
	}
	if err := put(path, b); err != nil {
		return fmt.Errorf("export to %s: %w", path, err)
	}
	return nil
}

func put(path string, b []byte) error {
	d, err := begin(path)
	if err != nil {
		return err
	}
	if err := d.write(b); err != nil {
		d.drop()
		return err
	}
	return d.place()
}

func pressAll(records []journal.Record, secrets *secret.Values) ([]byte, error) {
	p := press{secrets: secrets}
	b, err := p.lines(nil, records)
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	return b, p.refused()
}

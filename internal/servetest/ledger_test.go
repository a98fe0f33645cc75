//go:build unix

package servetest_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// written returns how often each call was performed, by its key: RUN/PATH.
func (w *world) written() map[string]int {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, "ledger"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Fatal(err)
	}
	out := map[string]int{}
	for line := range strings.Lines(string(b)) {
		out[strings.TrimSuffix(line, "\n")]++
	}
	return out
}

// ledger checks that the ledger has n writes, each once.
func (w *world) ledger(n int) { w.ledgerBetween(n, n) }

// ledgerBetween is ledger for a number of writes that is known to be in a range.
func (w *world) ledgerBetween(least, most int) {
	w.t.Helper()
	all := w.written()
	for key, times := range all {
		if times != 1 {
			w.t.Errorf("%s was performed %d times", key, times)
		}
	}
	if len(all) < least || len(all) > most {
		w.t.Errorf("the ledger has %d writes, want %d to %d", len(all), least, most)
	}
}

package storecmd

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/internal/app/homedir"
)

// sweepMarks removes what the home notes about the traces of runs that no longer exist.
func sweepMarks(h *storeHome) error {
	dir := filepath.Join(h.dir, homedir.TelemetryFolder)
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var runs []string
	if h.runs != nil {
		if runs, err = h.runs.List(); err != nil {
			return err
		}
	}
	for _, f := range files {
		run, isMark := strings.CutSuffix(f.Name(), ".json")
		if !isMark || slices.Contains(runs, run) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, f.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

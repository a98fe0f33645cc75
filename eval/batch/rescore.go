package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

// Rescore grades rows again and writes them to a new file. No agent runs, but judges may
// be called. Rows of trials that could not be graded are copied, unless only their grader
// failed. graders is the number of concurrent graders; mask redacts each row (may be
// nil). If ctx ends, Rescore returns its error and removes the file.
func Rescore(ctx context.Context, rows trial.Rows, checks []Graded, out string, graders int, mask Mask) (err error) {
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", out, fs.ErrExist)
	}
	log, err := journal.OpenLog(out, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, log.Close()); err != nil {
			_ = os.Remove(out)
		}
	}()
	r := rescoring{checks: checks, log: log, mask: mask, rivals: map[trial.Key]*trial.Subject{}}
	if err := r.findRivals(rows); err != nil {
		return err
	}
	return r.all(ctx, rows, max(graders, 1))
}

type rescoring struct {
	checks []Graded
	log    *journal.Log
	mask   Mask
	rivals map[trial.Key]*trial.Subject // by the variants that checks compare with
	mu     sync.Mutex
	err    error
}

// findRivals loads the trials of the variants that others are compared with.
func (r *rescoring) findRivals(rows trial.Rows) error {
	variants := map[string]bool{}
	for _, c := range r.checks {
		if p, ok := c.Check.(trial.Paired); ok {
			variants[p.Against()] = true
		}
	}
	if len(variants) == 0 {
		return nil
	}
	for row, err := range rows() {
		if err != nil {
			return err
		}
		if variants[row.Variant] && gradable(row) {
			r.rivals[row.Key] = subjectOf(row)
		}
	}
	return nil
}

// gradable reports whether the trial of a row ended.
func gradable(row *trial.Row) bool {
	return row.Outcome != trial.Skipped && (row.Fault == nil || row.Fault.Kind == trial.GraderFault)
}

func (r *rescoring) all(ctx context.Context, rows trial.Rows, graders int) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	jobs := make(chan *trial.Row)
	var all sync.WaitGroup
	for range graders {
		all.Go(func() {
			for row := range jobs {
				if err := r.one(ctx, row); err != nil {
					r.fail(err)
					stop()
				}
			}
		})
	}
	for row, err := range rows() {
		if err != nil {
			r.fail(err)
		}
		if err != nil || ctx.Err() != nil {
			break
		}
		jobs <- row
	}
	close(jobs)
	all.Wait()
	return errors.Join(r.err, ctx.Err())
}

func (r *rescoring) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
}

func (r *rescoring) one(ctx context.Context, row *trial.Row) error {
	if !gradable(row) {
		return appendRow(r.log, row, nil) // it was redacted before
	}
	row.Marks, row.Fault = nil, nil
	other := func(variant string) (*trial.Subject, error) {
		key := row.Key
		key.Variant = variant
		return r.rivals[key], nil
	}
	if err := grade(ctx, r.checks, row, subjectOf(row), other, nil); err != nil {
		return err
	}
	row.At = time.Now().UTC().Round(time.Millisecond)
	return appendRow(r.log, row, r.mask)
}

// Regrade creates an evaluation in dir from rows graded before; see Rescore. m is its
// manifest. On error it leaves nothing.
func Regrade(ctx context.Context, rows trial.Rows, checks []Graded, dir string, m report.Manifest, graders int, mask Mask) (err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("grade again: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	if err := Rescore(ctx, rows, checks, filepath.Join(dir, rowsFile), graders, mask); err != nil {
		return err
	}
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	return (&store{dir: dir}).write(manifestFile, append(b, '\n'))
}

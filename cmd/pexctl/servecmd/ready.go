package servecmd

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

var (
	errRecovering = errors.New("the server is reading the runs that were in progress")
	errUnwritable = errors.New("the server cannot store runs; its log has the cause")
)

// probeInterval limits how often readiness writes to the home.
const probeInterval = time.Second

// readiness says whether the server can accept runs.
type readiness struct {
	home      string
	log       *slog.Logger
	recovered atomic.Bool

	mu  sync.Mutex
	at  time.Time // of the last probe
	err error     // its result
}

// check returns why the server cannot accept runs, or nil.
func (r *readiness) check(context.Context) error {
	if !r.recovered.Load() {
		return errRecovering
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.at) < probeInterval {
		return r.err
	}
	before := r.err
	r.at, r.err = time.Now(), nil
	if err := probe(r.home, probeBlock); err != nil {
		r.err = errUnwritable
		if before == nil {
			r.log.Error("the home cannot be written", "error", err)
		}
	}
	return r.err
}

// probe writes a file of a size to a home and removes it.
func probe(home string, size int) error {
	f, err := os.CreateTemp(home, ".probe-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, size))
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// probeBlock is a size that takes space on the disk, unlike an empty file.
const probeBlock = 4 << 10

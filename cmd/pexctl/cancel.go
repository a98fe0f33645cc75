package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/regular"
)

// Whoever decides to cancel a run leaves a file in its folder; the process that
// runs the run looks for it.

// cancelTick is how often a session looks for the decision.
const cancelTick = 100 * time.Millisecond

// cancelWatch tells a session that somebody decided to cancel its run.
type cancelWatch struct {
	asked chan struct{} // closed by the decision
	done  chan struct{}
	gone  sync.WaitGroup
}

// watchCancel looks for the decision until it is stopped. One that was made
// while nobody ran the run counts at once.
func (s *session) watchCancel() *cancelWatch {
	path := filepath.Join(s.home.Folder(s.input.RunID), journal.CancelFile)
	w := &cancelWatch{asked: make(chan struct{}), done: make(chan struct{})}
	if exists(path) {
		close(w.asked)
		return w
	}
	w.gone.Go(func() {
		tick := time.NewTicker(cancelTick)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if exists(path) {
					close(w.asked)
					return
				}
			case <-w.done:
				return
			}
		}
	})
	return w
}

func (w *cancelWatch) stop() {
	close(w.done)
	w.gone.Wait()
}

// decideCancel leaves the decision for the session of a run.
func decideCancel(home *journal.Home, run string) error {
	path := filepath.Join(home.Folder(run), journal.CancelFile)
	f, err := regular.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err == nil {
		_, err = f.WriteString("cancel\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return infra(fmt.Errorf("cancel run %s: %w", run, err))
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil // a folder that cannot be read decides nothing
}

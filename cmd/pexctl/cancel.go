package main

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
)

// cancelTick is how often a session looks for the decision to cancel its run.
const cancelTick = 100 * time.Millisecond

// cancelWatch tells a session that somebody decided to cancel its run.
type cancelWatch struct {
	home  *journal.Home
	run   string
	asked chan struct{} // closed by the decision
	done  chan struct{}
	gone  sync.WaitGroup
}

// watchCancel looks for the decision until it is stopped. One that was made
// while nobody ran the run counts at once.
func (s *session) watchCancel() *cancelWatch {
	w := &cancelWatch{home: s.home, run: s.input.RunID, asked: make(chan struct{}), done: make(chan struct{})}
	if w.look() {
		return w
	}
	w.gone.Go(func() {
		tick := time.NewTicker(cancelTick)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if w.look() {
					return
				}
			case <-w.done:
				return
			}
		}
	})
	return w
}

// look closes asked if the decision is made.
func (w *cancelWatch) look() bool {
	_, ok := w.home.CancelRequested(w.run)
	if ok {
		close(w.asked)
	}
	return ok
}

// by is who made the decision, as far as it says so.
func (w *cancelWatch) by() (who engine.Actor) {
	b, _ := w.home.CancelRequested(w.run)
	if json.Unmarshal(b, &who) != nil {
		return engine.Actor{}
	}
	return who
}

func (w *cancelWatch) stop() {
	close(w.done)
	w.gone.Wait()
}

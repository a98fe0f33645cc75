package manager_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/manager"
)

// A message to a run holds its journal open for a moment. Recover waits for its end, and does
// not take the run for one that another process executes.
func TestRecoverWaitsForAJournalInUse(t *testing.T) {
	w := newWorld(t, greets)
	session, err := w.service().Start(w.request("r-1"))
	if err == nil {
		err = errors.Join(session.Begin(), session.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	file, err := w.service().Home().Open("r-1")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		m := w.open(manager.Options{})
		var n int
		done := make(chan error, 1)
		go func() {
			var err error
			n, err = m.Recover(t.Context())
			done <- err
		}()
		synctest.Wait() // it waits, or has ended
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-done; n != 1 || err != nil {
			t.Fatal(n, err)
		}
		m.Await(t.Context(), "r-1")
		w.close(m)
	})
	if res := w.result(w.open(manager.Options{}), "r-1"); res.Status != stop.RunCompleted {
		t.Error(res.Status)
	}
}

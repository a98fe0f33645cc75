package kernel_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// write is a write that says when it is performed.
func write(s *kernel.Scope, name string, performed *int) error {
	_, err := kernel.Do(s, kernel.Effect[int]{Name: name, Class: journal.Write, Perform: func(context.Context, string) (int, error) {
		*performed++
		return *performed, nil
	}})
	return err
}

// decided is a decision to cancel that was made before the session.
func decided() <-chan struct{} {
	asked := make(chan struct{})
	close(asked)
	return asked
}

// A write that a run has asked for, and not begun, is not begun once the run is
// cancelled: here the run was suspended just before it.
func TestACancelledRunBeginsNoWrite(t *testing.T) {
	j := &journal.Memory{RoundTrip: true}
	performed := 0
	var got error
	main := func(s *kernel.Scope) error {
		if _, err := kernel.Ask[string](s, kernel.Question{Name: "q"}); err != nil {
			return err
		}
		got = write(s, "w", &performed)
		_, err := eff(s, "next", 0)
		return err
	}
	o := kernel.Options{RunID: "r", Journal: j, Answers: map[string]json.RawMessage{"q": json.RawMessage(`"yes"`)}}
	if _, err := runWith(t.Context(), o, main); err != nil || performed != 1 {
		t.Fatal(err, performed)
	}
	j.Records = j.Records[:3] // cut behind the answer
	o.Cancel = decided()
	for range 2 {
		_, err := runWith(t.Context(), o, main)
		var f *journal.Failure
		if !errors.As(got, &f) || f.Code != kernel.FailureNotBegun || performed != 1 || err == nil || err.Error() != kernel.ErrCancelled.Error() {
			t.Fatal(got, err, performed)
		}
		o.Cancel = nil
	}
}

// A write that a recording left in doubt does not keep a cancelled run, live or
// in a later session.
func TestACancelledRunDoesNotWaitForARecordedDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal.Memory{RoundTrip: true}
		asked, performed := make(chan struct{}), 0
		main := func(s *kernel.Scope) error {
			return s.Parallel(2, name, func(i int, s *kernel.Scope) error {
				if i == 0 {
					return write(s, "w", &performed)
				}
				_, err := eff(s, "e", time.Hour)
				return err
			})
		}
		o := kernel.Options{RunID: "r", Journal: j, Recorded: shelf{"b.0/w": {UnknownOutcome: true}}, Cancel: asked}
		time.AfterFunc(time.Minute, func() { close(asked) })
		for range 2 {
			_, err := runWith(t.Context(), o, main)
			var f *journal.Failure
			if !errors.As(err, &f) || f.Code != kernel.FailureUnknown || performed != 0 {
				t.Fatal(err, performed)
			}
			o.Cancel, o.Recorded = nil, nil
		}
	})
}

// Who cancels a run outdoes who wants a write in doubt done again.
func TestACancelledRunRepeatsNoWrite(t *testing.T) {
	j := &journal.Memory{RoundTrip: true}
	performed := 0
	main := func(s *kernel.Scope) error { return write(s, "w", &performed) }
	if _, err := run(j, main); err != nil {
		t.Fatal(err)
	}
	j.Records = j.Records[:2] // cut behind the write's intent
	o := kernel.Options{RunID: "r", Journal: j, Cancel: decided(), Resolve: map[string]string{"w": "redo"}}
	if _, err := runWith(t.Context(), o, main); err == nil || performed != 1 {
		t.Fatal(err, performed)
	}
}

// A branch that ends the run ends it for what its neighbours have just asked
// for too: a write that was not begun is not begun.
func TestACutBeginsNoWrite(t *testing.T) {
	j := &journal.Memory{RoundTrip: true}
	performed := 0
	var got error
	stop := errors.New("a guard says stop")
	main := func(s *kernel.Scope) error {
		got = nil
		return s.Parallel(2, name, func(i int, c *kernel.Scope) error {
			if i == 0 {
				got = write(c, "w", &performed)
				return write(c, "next", &performed)
			}
			s.Cancel(stop)
			return stop
		})
	}
	for range 2 {
		_, err := run(j, main)
		var f *journal.Failure
		if !errors.As(got, &f) || f.Code != kernel.FailureNotBegun || performed != 0 || err == nil {
			t.Fatal(got, err, performed)
		}
	}
}

package kernel_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// twoWrites writes in two branches, in the second behind a read.
func twoWrites(performed *[]string) func(*kernel.Scope) error {
	var mu sync.Mutex // the writes of the first run go side by side
	write := func(s *kernel.Scope) error {
		_, err := kernel.Do(s, kernel.Effect[string]{Name: "write", Class: journal.Write, Perform: func(_ context.Context, key string) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			*performed = append(*performed, key)
			return "done", nil
		}})
		return err
	}
	return func(s *kernel.Scope) error {
		return s.Parallel(2, name, func(i int, s *kernel.Scope) error {
			if i == 1 {
				if _, err := eff(s, "read", 0); err != nil {
					return err
				}
			}
			return write(s)
		})
	}
}

// A session that stops at a write in doubt has asked for another one meanwhile:
// that one was never begun, so no later session may take it for one in doubt.
func TestAWriteThatWasNotBegunIsNeverInDoubt(t *testing.T) {
	var performed []string
	whole := &journal.Memory{RoundTrip: true}
	if _, err := run(whole, twoWrites(&performed)); err != nil {
		t.Fatal(err)
	}
	read := slices.IndexFunc(whole.Records, func(r journal.Record) bool { return r.Kind == journal.Result && r.Path == "b.1/read" })
	at := func(kind journal.Kind, path string) bool {
		return slices.ContainsFunc(whole.Records[:read+1], func(r journal.Record) bool { return r.Kind == kind && r.Path == path })
	}
	if !at(journal.Intent, "b.0/write") || at(journal.Intent, "b.1/write") {
		t.Fatal("the run went otherwise")
	}
	cut := slices.DeleteFunc(slices.Clone(whole.Records[:read+1]), func(r journal.Record) bool { return r.Kind == journal.Result && r.Path == "b.0/write" })
	for i := range cut {
		cut[i].Seq = uint64(i + 1)
	}
	j := &journal.Memory{RoundTrip: true, Records: cut}
	performed = nil
	for range 2 { // also when it is resumed once more without a decision
		_, err := run(j, twoWrites(&performed))
		var review *kernel.NeedsReview
		if !errors.As(err, &review) || len(review.Writes) != 1 || review.Path != "b.0/write" || len(performed) > 0 {
			t.Fatal(err, performed)
		}
	}
	o := kernel.Options{RunID: "r", Journal: j, Resolve: map[string]string{"b.0/write": `done:"done"`}}
	if _, err := runWith(t.Context(), o, twoWrites(&performed)); err != nil || !slices.Equal(performed, []string{"r/b.1/write"}) {
		t.Fatal(err, performed)
	}
	if _, err := runWith(t.Context(), o, twoWrites(&performed)); err != nil || len(performed) != 1 {
		t.Fatal("run again:", err, performed)
	}
}

// A session that stops at a write in doubt, and asked for nothing meanwhile,
// tells what its branches emitted.
func TestEmitsBeforeAReviewAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out []string
		prog := func(s *kernel.Scope) error {
			return s.Parallel(2, name, func(i int, s *kernel.Scope) error {
				if i == 0 {
					_, err := kernel.Do(s, kernel.Effect[string]{Name: "write", Class: journal.Write, Perform: func(context.Context, string) (string, error) {
						time.Sleep(time.Minute)
						return "done", nil
					}})
					return err
				}
				_, err := eff(s, "read", time.Second)
				s.Emit(func() { out = append(out, "worked") })
				return err
			})
		}
		j := &journal.Memory{RoundTrip: true}
		if _, err := run(j, prog); err != nil || !slices.Equal(out, []string{"worked"}) {
			t.Fatal(err, out)
		}
		read := slices.IndexFunc(j.Records, func(r journal.Record) bool { return r.Kind == journal.Result && r.Path == "b.1/read" })
		j.Records, out = j.Records[:read+1], nil
		var review *kernel.NeedsReview
		if _, err := run(j, prog); !errors.As(err, &review) || !slices.Equal(out, []string{"worked"}) {
			t.Fatal(err, out)
		}
	})
}

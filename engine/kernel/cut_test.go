package kernel_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// resume runs a cut journal to its end, deciding about writes in doubt as said.
func resume(t *testing.T, sp agentSpec, w *fickle, j *journal.Memory, o kernel.Options, how string) outcome {
	t.Helper()
	o.Resolve = map[string]string{}
	for {
		out, _, err := sp.run(w, j, o)
		var review *kernel.NeedsReview
		if !errors.As(err, &review) {
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		if review.Path != review.Writes[0].Path {
			t.Fatal(review)
		}
		for _, open := range review.Writes {
			if w.counts["r/"+open.Path] != 0 {
				t.Fatal("a write was repeated by itself:", open.Path)
			}
			o.Resolve[open.Path] = how
		}
	}
}

// Cut after every record and resume: the same state, nothing finished runs
// again, no write runs again by itself.
func TestCutAtEveryRecord(t *testing.T) {
	for label, sp := range agents {
		t.Run(label, func(t *testing.T) {
			o := kernel.Options{Virtual: true}
			full := &journal.Memory{RoundTrip: true}
			want, _, err := sp.run(newWorld(0), full, o)
			if err != nil {
				t.Fatal(err)
			}
			for n := range len(full.Records) + 1 {
				cut := slices.Clone(full.Records[:n])
				j, w := &journal.Memory{Records: cut, RoundTrip: true}, newWorld(0)
				got := resume(t, sp, w, j, o, "redo")
				if d := cmp.Diff(want, got); d != "" {
					t.Fatalf("cut at %d of %d (-want +got):\n%s", n, len(full.Records), d)
				}
				for _, r := range cut {
					if r.Kind == journal.Result && w.counts["r/"+r.Path] > 0 {
						t.Fatalf("cut at %d: %s was done and ran again", n, r.Path)
					}
				}
				rerun(t, sp, j.Records, o, want)
			}
		})
	}
}

// The same in arrival order, with replies that are never the same twice: only
// invariants can hold.
func TestCutInArrivalOrderKeepsInvariants(t *testing.T) {
	sp := agents["budget binds"]
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			full, w := &journal.Memory{RoundTrip: true}, newWorld(time.Second)
			w.nonce = true
			if _, _, err := sp.run(w, full, kernel.Options{}); err != nil {
				t.Fatal(err)
			}
			for n := range len(full.Records) + 1 {
				j, w := &journal.Memory{Records: slices.Clone(full.Records[:n]), RoundTrip: true}, newWorld(time.Second)
				w.nonce = true
				got := resume(t, sp, w, j, kernel.Options{}, "skip")
				if got.Used > sp.budget {
					t.Fatalf("budget overshot: %d", got.Used)
				}
				rerun(t, sp, j.Records, kernel.Options{}, got)
			}
		})
	}
}

// Twice in a row: a journal that holds a resume is cut again.
func TestCutOfAResumedRun(t *testing.T) {
	sp := agents["guard fires"]
	o := kernel.Options{Virtual: true}
	full := &journal.Memory{RoundTrip: true}
	want, _, err := sp.run(newWorld(0), full, o)
	if err != nil {
		t.Fatal(err)
	}
	half := &journal.Memory{Records: slices.Clone(full.Records[:len(full.Records)/2]), RoundTrip: true}
	resume(t, sp, newWorld(0), half, o, "redo")
	for n := len(full.Records) / 2; n <= len(half.Records); n++ {
		j := &journal.Memory{Records: slices.Clone(half.Records[:n]), RoundTrip: true}
		if d := cmp.Diff(want, resume(t, sp, newWorld(0), j, o, "redo")); d != "" {
			t.Fatalf("cut at %d: %s", n, d)
		}
	}
}

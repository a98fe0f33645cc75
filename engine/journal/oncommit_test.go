//go:build !race

package journal_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/journal"
)

// What becomes durable is measured, with a commit log and without. Without a function, an append
// does not allocate more.
func TestCommitsAreMeasured(t *testing.T) {
	for _, isShared := range []bool{false, true} {
		allocs := map[bool]float64{}
		for _, isMeasured := range []bool{false, true} {
			var commits, total atomic.Int64
			h := home(t, t.TempDir(), journal.Sync)
			if isMeasured {
				h.OnCommit(func(took time.Duration) {
					commits.Add(1)
					total.Add(int64(took))
				})
			}
			if isShared {
				h.ShareSyncs(0)
			}
			f := created(t, h)
			seq := uint64(0)
			commit := func(kind journal.Kind) {
				seq++
				ticket, err := f.Append([]journal.Record{{Seq: seq, Kind: kind, Path: "r"}})
				if err == nil {
					err = ticket.Wait()
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			commit(journal.Start)
			before := commits.Load()
			allocs[isMeasured] = testing.AllocsPerRun(10, func() { commit(journal.Marker) })
			if got := commits.Load() - before; isMeasured && (got != 11 || total.Load() <= 0) || !isMeasured && got != 0 {
				t.Errorf("shared %t: %d commits in %d ns", isShared, got, total.Load())
			}
			ended(t, f)
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		}
		if allocs[true] > allocs[false] {
			t.Errorf("shared %t: %v allocations, %v without measuring", isShared, allocs[true], allocs[false])
		}
	}
}

package journal_test

import (
	"testing"
	"testing/synctest"

	"github.com/pexctl/pex/engine/journal"
)

// A commit is performed by whoever waits for it, in the background after Start, and by
// Close if nobody did.
func TestACommitIsPerformedByWhoeverWaits(t *testing.T) {
	for name, finish := range map[string]func(*testing.T, *journal.File, *journal.Ticket){
		"wait": func(t *testing.T, _ *journal.File, ticket *journal.Ticket) {
			if err := ticket.Wait(); err != nil {
				t.Error(err)
			}
		},
		"start": func(_ *testing.T, _ *journal.File, ticket *journal.Ticket) {
			ticket.Start()
			synctest.Wait()
		},
		"done":  func(_ *testing.T, _ *journal.File, ticket *journal.Ticket) { <-ticket.Done() },
		"load":  func(_ *testing.T, f *journal.File, _ *journal.Ticket) { _, _ = f.Load() },
		"close": func(t *testing.T, f *journal.File, _ *journal.Ticket) { ended(t, f) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				h := home(t, dir, journal.Sync)
				f := created(t, h)
				appended(t, f, journal.Record{Seq: 1, Kind: journal.Start, Path: "r"})
				ticket, err := f.Append([]journal.Record{{Seq: 2, Kind: journal.Marker}})
				if err != nil {
					t.Fatal(err)
				}
				later, err := f.Append([]journal.Record{{Seq: 3, Kind: journal.Result, Path: "x"}})
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if ticket.Ready() || later.Ready() {
					t.Error("committed before anybody waited")
				}
				finish(t, f, ticket)
				if !ticket.Ready() || !later.Ready() {
					t.Error("not committed")
				}
				if recs, err := h.Read("r"); err != nil || len(recs) != 3 {
					t.Error(len(recs), err)
				}
				if name != "close" {
					ended(t, f)
				}
			})
		})
	}
}

package journal_test

import (
	"testing"

	"github.com/pexctl/pex/engine/journal"
)

// When a ticket is fulfilled, so are all earlier ones: a session that waits for its last
// record need not wait for the others.
func TestTicketsAreFulfilledInOrder(t *testing.T) {
	home, err := journal.OpenHome(t.TempDir(), journal.Exit)
	if err != nil {
		t.Fatal(err)
	}
	f, err := home.Create("r-1")
	if err != nil {
		t.Fatal(err)
	}
	add := func(seq int) *journal.Ticket {
		t.Helper()
		ticket, err := f.Append([]journal.Record{{Seq: uint64(seq), Kind: journal.Marker}})
		if err != nil {
			t.Fatal(err)
		}
		return ticket
	}
	for n := range 20_000 {
		first := add(2*n + 1)
		first.Start()
		last := add(2*n + 2)
		if err := last.Wait(); err != nil {
			t.Fatal(err)
		}
		if !first.Ready() {
			t.Fatalf("record %d was fulfilled before record %d", 2*n+2, 2*n+1)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

package main

import (
	"context"
	"testing"

	"github.com/pexctl/pex/engine/journal"
)

// begun is a run that a session has open, with its first record.
func begun(t *testing.T) (*journal.Home, *journal.File) {
	t.Helper()
	home, err := journal.OpenHome(t.TempDir(), journal.Exit)
	if err != nil {
		t.Fatal(err)
	}
	file, err := home.Create("r-1")
	if err != nil {
		t.Fatal(err)
	}
	appendTo(t, file, journal.Record{Seq: 1, Kind: journal.Start, Path: "r-1", Body: []byte(`{}`)})
	return home, file
}

func appendTo(t *testing.T, file *journal.File, recs ...journal.Record) {
	t.Helper()
	if _, err := file.Append(recs); err != nil {
		t.Fatal(err)
	}
}

func TestATailGivesEachRecordOnceAndEndsWithItsProcess(t *testing.T) {
	home, file := begun(t)
	tail := &tail{ctx: t.Context(), home: home, run: "r-1", seen: 1}
	appendTo(t, file, journal.Record{Seq: 2, Kind: journal.Marker}, journal.Record{Seq: 3, Kind: journal.Marker})
	recs, err := tail.more(1)
	if err != nil || len(recs) != 2 || recs[0].Seq != 2 || tail.rewound {
		t.Fatalf("%d records, rewound %t, %v", len(recs), tail.rewound, err)
	}
	appendTo(t, file, journal.Record{Seq: 4, Kind: journal.Change, Voids: 3, Body: []byte(`{}`)})
	if recs, err = tail.more(3); err != nil || len(recs) != 1 || recs[0].Seq != 4 {
		t.Fatalf("%d records, %v", len(recs), err)
	}
	if !tail.rewound {
		t.Error("nobody is told that a part became void")
	}
	appendTo(t, file, journal.Record{Seq: 5, Kind: journal.Marker})
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if recs, err = tail.more(4); err != nil || len(recs) != 1 || recs[0].Seq != 5 {
		t.Fatalf("what the process wrote last: %d records, %v", len(recs), err)
	}
	if recs, err = tail.more(5); err != nil || len(recs) != 0 {
		t.Fatalf("after its end: %d records, %v", len(recs), err)
	}
	if len(tail.got) != 4 {
		t.Errorf("%d records in all", len(tail.got))
	}
}

func TestATailEndsWhenNobodyLooksAnyMore(t *testing.T) {
	home, file := begun(t)
	defer file.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tail := &tail{ctx: ctx, home: home, run: "r-1", seen: 1}
	if recs, err := tail.more(1); err != nil || len(recs) != 0 {
		t.Errorf("%d records, %v", len(recs), err)
	}
}

package runs_test

import (
	"context"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
)

// events collects the types of events.
type events struct {
	mu    sync.Mutex
	types []engine.EventType
}

func (e *events) Send(ev engine.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.types = append(e.types, ev.Type)
}

func TestFollowSendsAllEventsOfTheRun(t *testing.T) {
	w := newWorld(t, answers)
	w.model = &fakeModel{gate: make(chan struct{})}
	session := w.start(w.open(), "r-1")
	ended := make(chan error, 1)
	own, followed := &events{}, &events{}
	go func() {
		session.Run(t.Context(), runs.Observer{Sinks: []engine.Sink{own}})
		ended <- session.Close()
	}()
	w.awaitSecondCall("r-1")
	type end struct {
		res *engine.Result
		err error
	}
	over := make(chan end, 1)
	go func() {
		res, err := w.open().Follow(t.Context(), "r-1", followed)
		over <- end{res, err}
	}()
	close(w.model.gate)
	got := <-over
	if got.err != nil || got.res.Status != stop.RunCompleted {
		t.Fatalf("%+v", got)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(own.types, followed.types); diff != "" {
		t.Error(diff)
	}
}

func TestFollowEndsWithItsContextAndTheRunContinues(t *testing.T) {
	w := newWorld(t, answers)
	w.model = &fakeModel{gate: make(chan struct{})}
	session := w.start(w.open(), "r-1")
	done := make(chan *engine.Result)
	go func() { done <- session.Run(t.Context(), runs.Observer{}) }()
	w.awaitSecondCall("r-1")
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if _, err := w.open().Follow(ctx, "r-1"); err != nil {
		t.Error(err)
	}
	close(w.model.gate)
	if res := <-done; res.Status != stop.RunCompleted {
		t.Errorf("after Follow ended, the run has status %s", res.Status)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
}

// openRun returns a home and the open journal of run r-1, which has a start record.
func openRun(t *testing.T) (*runs.Service, *journal.File) {
	t.Helper()
	s := newWorld(t, nil).open()
	file, err := s.Home().Create("r-1")
	if err != nil {
		t.Fatal(err)
	}
	appendTo(t, file, journal.Record{Seq: 1, Kind: journal.Start, Path: "r-1", Body: []byte(`{}`)})
	return s, file
}

func appendTo(t *testing.T, file *journal.File, recs ...journal.Record) {
	t.Helper()
	if _, err := file.Append(recs); err != nil {
		t.Fatal(err)
	}
}

func TestTailReturnsEachRecordOnceAndEndsWithTheProcess(t *testing.T) {
	s, file := openRun(t)
	tail := runs.NewTail(t.Context(), s, "r-1", 1)
	appendTo(t, file, journal.Record{Seq: 2, Kind: journal.Marker}, journal.Record{Seq: 3, Kind: journal.Marker})
	recs, err := tail.More()
	if err != nil || len(recs) != 2 || recs[0].Seq != 2 || tail.Rewound() {
		t.Fatalf("%d records, rewound %t, %v", len(recs), tail.Rewound(), err)
	}
	appendTo(t, file, journal.Record{Seq: 4, Kind: journal.Change, Voids: 3, Body: []byte(`{}`)})
	if recs, err = tail.More(); err != nil || len(recs) != 1 || recs[0].Seq != 4 {
		t.Fatalf("%d records, %v", len(recs), err)
	}
	if !tail.Rewound() {
		t.Error("voided records are not reported")
	}
	appendTo(t, file, journal.Record{Seq: 5, Kind: journal.Marker})
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if recs, err = tail.More(); err != nil || len(recs) != 1 || recs[0].Seq != 5 {
		t.Fatalf("last write of the process: %d records, %v", len(recs), err)
	}
	if recs, err = tail.More(); err != nil || len(recs) != 0 {
		t.Fatalf("after the process ended: %d records, %v", len(recs), err)
	}
	if tail.Received() != 4 {
		t.Errorf("%d records in total", tail.Received())
	}
}

func TestTailEndsWithItsContext(t *testing.T) {
	s, file := openRun(t)
	defer file.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tail := runs.NewTail(ctx, s, "r-1", 1)
	if recs, err := tail.More(); err != nil || len(recs) != 0 {
		t.Errorf("%d records, %v", len(recs), err)
	}
}

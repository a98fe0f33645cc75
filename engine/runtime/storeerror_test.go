package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// fullStoreError is an error of a store with a stop code.
type fullStoreError struct{}

func (fullStoreError) Error() string       { return "no room" }
func (fullStoreError) StopCode() stop.Code { return stop.StoreFull }

func TestStoreErrorSuspendsTheRun(t *testing.T) {
	locked := errors.New("another process has the store")
	tests := []struct {
		name     string
		memoryID string // "" = the run reads no history
		err      error
		code     stop.Code
		answered bool // before the error
	}{
		{"history cannot be read", "m", locked, stop.StoreUnavailable, false},
		{"history cannot be read, the disk is full", "m", fullStoreError{}, stop.StoreFull, false},
		{"the answer cannot be stored", "", locked, stop.StoreUnavailable, true},
		{"the answer cannot be stored, the disk is full", "", fullStoreError{}, stop.StoreFull, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store := &enginetest.Store{}
			turnOf(programWithMemory(endsWith("s0 ok zero")), store, engine.Input{RunID: "earlier", MemoryID: "m"})
			store.Err, store.Fails = tt.err, 1
			j := &journal.Memory{RoundTrip: true}
			var shown string
			run := func() *engine.Result {
				node := func(s engine.Scope) error {
					shown = lastReplies(s.View().State.History)
					return endsWith("s1 ok one")(s)
				}
				in := engine.Input{RunID: "r", MemoryID: tt.memoryID, Parameters: map[string]any{"question": "q"}}
				return execute(t.Context(), programWithMemory(node), in, engine.Host{Memory: store}, runtime.Options{Journal: j})
			}
			res := run()
			if res.Status != stop.RunInterrupted || res.StopReason.Code != tt.code {
				t.Fatalf("%s, %+v", res.Status, res.StopReason)
			}
			if !strings.Contains(res.StopReason.Message, tt.err.Error()) || (res.Response == "the answer") != tt.answered {
				t.Errorf("%q, answer %q", res.StopReason.Message, res.Response)
			}
			before := store.Appends()
			res = run()
			if res.Status != stop.RunCompleted || res.Response != "the answer" || len(res.Warnings) > 0 {
				t.Errorf("resumed: %s, %+v, %q", res.Status, res.StopReason, res.Warnings)
			}
			if tt.memoryID != "" && shown != "question of earlier" {
				t.Errorf("history %q", shown)
			}
			if run(); store.Appends() != before+1 || len(storedHistory(t, store, res.MemoryID)) != len(tt.memoryID)+1 {
				t.Errorf("%d appends, %q", store.Appends()-before, lastReplies(storedHistory(t, store, res.MemoryID)))
			}
		})
	}
}

func TestMaxDurationBoundsTheWaitForTheStore(t *testing.T) {
	store := &deadlineStore{}
	p := programWithMemory(endsWith("s1 ok one"))
	p.Limits.MaxDuration = time.Minute
	res := execute(t.Context(), p, engine.Input{RunID: "r", MemoryID: "m"}, engine.Host{Memory: store}, runtime.Options{})
	if res.Status != stop.RunCompleted || len(store.left) != 3 {
		t.Fatalf("%s, %v", res.Status, store.left)
	}
	for _, left := range store.left {
		if left > time.Minute || left <= 0 {
			t.Errorf("the store may wait for %v", left)
		}
	}
}

// deadlineStore records the time left for its operations.
type deadlineStore struct {
	enginetest.Store
	left []time.Duration
}

func (w *deadlineStore) note(ctx context.Context) {
	at, _ := ctx.Deadline()
	w.left = append(w.left, time.Until(at))
}

func (w *deadlineStore) History(ctx context.Context, id string) ([]memory.Interaction, error) {
	w.note(ctx)
	return w.Store.History(ctx, id)
}

func (w *deadlineStore) Append(ctx context.Context, in ...memory.Interaction) error {
	w.note(ctx)
	return w.Store.Append(ctx, in...)
}

// noteTool is a tool that stores notes.
type noteTool struct{ funcTool }

func (noteTool) SessionPart() memory.SessionPart { return memory.NotesPart }

func TestSessionErrorIsAWarning(t *testing.T) {
	busy, refused := errors.New("the store is busy"), &memory.RefusedError{Err: errors.New("too many notes")}
	for _, tt := range []struct {
		name   string
		err    error // of the store
		change error // of the tool itself
		status tool.CallStatus
		warned bool
	}{
		{"no trouble", nil, nil, tool.CallOK, false},
		{"the store is in trouble", busy, nil, tool.CallError, true},
		{"the store refuses", refused, nil, tool.CallError, false},
		{"the tool refuses", nil, errors.New("the notepad is full"), tool.CallError, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := &enginetest.Store{}
			one := noteTool{funcTool{tool.IdempotentEffect, func(ctx context.Context, c *tool.Call) (*tool.Output, error) {
				store.Err, store.Fails = tt.err, 1
				err := c.Session.Update(ctx, func(s *memory.Session) error { return tt.change })
				return &tool.Output{Text: "noted"}, err
			}}}
			var recs []tool.Record
			p := programWithMemory(func(s engine.Scope) error {
				if err := callTool("notes", 1, false, &recs)(s); err != nil {
					return err
				}
				return endsWith("s1 ok one")(s)
			})
			res := execute(t.Context(), p, question(), engine.Host{Memory: store, Tools: []tool.Binding{named("notes", one)}}, runtime.Options{Journal: &journal.Memory{RoundTrip: true}})
			if res.Status != stop.RunCompleted || recs[0].Status != tt.status {
				t.Errorf("%s, the call %s: %s", res.Status, recs[0].Status, recs[0].Text())
			}
			if warned := len(res.Warnings) == 1 && strings.Contains(res.Warnings[0], "tool notes: its data for this conversation"); warned != tt.warned {
				t.Errorf("warnings %q", res.Warnings)
			}
		})
	}
}

// Earlier versions ended a run if the history could not be read, and journaled the stop
// code.
func TestStopCodeOfAJournaledStoreErrorIsKept(t *testing.T) {
	for code, want := range map[string]stop.Code{
		"store_full": stop.StoreFull, "store_corrupt": stop.StoreCorrupt, "error": stop.Internal,
	} {
		j := &journal.Memory{}
		run := func() *engine.Result {
			store := &enginetest.Store{Err: &memory.RefusedError{Err: errors.New("not this one")}, Fails: 1}
			in := engine.Input{RunID: "r", MemoryID: "m", Parameters: map[string]any{"question": "q"}}
			return execute(t.Context(), programWithMemory(endsWith("s1 ok one")), in, engine.Host{Memory: store}, runtime.Options{Journal: j})
		}
		run()
		changed := 0
		for i, r := range j.Records {
			if r.Kind == journal.Result && r.Status == journal.Failed {
				f := journal.DecodeFailure(r.Body)
				f.Code = code
				j.Records[i].Body, j.Records[i].Encoded = f.Encode(), true
				changed++
			}
		}
		if res := run(); changed != 1 || res.StopReason.Code != want {
			t.Errorf("%s, in %d records: %+v", code, changed, res.StopReason)
		}
	}
}

// limitedJournal is a journal that accepts a limited number of records.
type limitedJournal struct {
	journal.Memory
	room int
	err  error
}

func (s *limitedJournal) Append(recs []journal.Record) (*journal.Ticket, error) {
	if s.room -= len(recs); s.room < 0 {
		return nil, s.err
	}
	return s.Memory.Append(recs)
}

func TestJournalErrorIsInTheStopReason(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want stop.Code
	}{
		{fmt.Errorf("append: %w", journal.ErrFull), stop.StoreFull},
		{fmt.Errorf("append: %w", journal.ErrCorrupt), stop.StoreCorrupt},
		{errors.New("input/output error"), stop.StoreUnavailable},
	} {
		res := execute(t.Context(), program(map[string]nodeFunc{"a": warn("a")}), question(), engine.Host{}, runtime.Options{Journal: &limitedJournal{err: tt.err}})
		if res.StopReason.Code != tt.want || !strings.Contains(res.StopReason.Message, tt.err.Error()) {
			t.Errorf("%v: %s, %+v", tt.err, res.Status, res.StopReason)
		}
	}
}

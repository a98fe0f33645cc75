package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/memory"
)

// sessionCases are the cases for a memory with sessions.
var sessionCases = []struct {
	name string
	run  func(*testing.T, sessions)
}{
	{"an unknown id is an empty session", sessionUnknown},
	{"notes and variables are stored", sessionRoundTrip},
	{"sessions are isolated from each other and from interactions", sessionIsolation},
	{"an update sees the previous one", sessionUpdates},
	{"a failed update changes nothing", sessionRefused},
	{"concurrent updates are all stored", sessionConcurrent},
	{"a returned session belongs to the caller", sessionCopies},
	{"a session can be emptied", sessionEmptied},
	{"an ended context ends the operation on a session", sessionContext},
}

// sessions is a memory with the capability.
type sessions interface {
	memory.Store
	memory.SessionStore
}

func note(id string) memory.Note {
	return memory.Note{ID: id, RunID: "r", Text: "text of " + id, At: time.Date(2026, 11, 20, 10, 0, 0, 123456789, time.UTC)}
}

func update(t *testing.T, m sessions, memoryID string, change func(*memory.Session)) {
	t.Helper()
	if err := m.UpdateSession(t.Context(), memoryID, func(s *memory.Session) error { change(s); return nil }); err != nil {
		t.Fatalf("update %q: %v", memoryID, err)
	}
}

func addNote(t *testing.T, m sessions, memoryID, id string) {
	t.Helper()
	update(t, m, memoryID, func(s *memory.Session) { s.Notes = append(s.Notes, note(id)) })
}

func wantSession(t *testing.T, m sessions, memoryID string, want memory.Session) {
	t.Helper()
	got, err := m.Session(t.Context(), memoryID)
	if err != nil {
		t.Fatalf("session %q: %v", memoryID, err)
	}
	if len(got.Variables) == 0 {
		got.Variables = nil
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("session %q (-want +got):\n%.4000s", memoryID, diff)
	}
}

func sessionUnknown(t *testing.T, m sessions) {
	wantSession(t, m, "unknown", memory.Session{})
	addNote(t, m, "other", "1")
	wantSession(t, m, "unknown", memory.Session{})
}

func sessionRoundTrip(t *testing.T, m sessions) {
	want := memory.Session{
		Notes: []memory.Note{note("2"), note("1")},
		Variables: map[string]json.RawMessage{
			"n": json.RawMessage(`12345678901234567890.5`), "text": json.RawMessage(`"é \u2028 <b>&"`),
			"": json.RawMessage(`null`), "long": json.RawMessage(`"` + strings.Repeat("x", 200_000) + `"`), "list": json.RawMessage(`[{"a":[]}]`),
		},
	}
	update(t, m, "c", func(s *memory.Session) { *s = want })
	got, err := m.Session(t.Context(), "c")
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range want.Variables {
		var a, b any
		if errA, errB := json.Unmarshal(v, &a), json.Unmarshal(got.Variables[name], &b); errA != nil || errB != nil || !cmp.Equal(a, b) {
			t.Errorf("variable %q: %.200s, want %.200s (%v)", name, got.Variables[name], v, errB)
		}
	}
	if string(got.Variables["n"]) != string(want.Variables["n"]) {
		t.Errorf("a number lost digits: %s", got.Variables["n"])
	}
	if diff := cmp.Diff(want.Notes, got.Notes); diff != "" || len(got.Variables) != len(want.Variables) {
		t.Errorf("%d variables, notes:\n%s", len(got.Variables), diff)
	}
}

func sessionIsolation(t *testing.T, m sessions) {
	ids := []string{"a", "ab", "a/", "a\x00", "A", ".."}
	for _, id := range ids {
		add(t, m, interaction(id, "1"))
		addNote(t, m, id, "of "+id)
	}
	for _, id := range ids {
		wantSession(t, m, id, memory.Session{Notes: []memory.Note{note("of " + id)}})
		wantHistory(t, m, id, interaction(id, "1"))
	}
}

func sessionUpdates(t *testing.T, m sessions) {
	for i := range 3 {
		update(t, m, "c", func(s *memory.Session) {
			if len(s.Notes) != i || len(s.Variables) != i {
				t.Errorf("update %d sees %d notes, %d variables", i, len(s.Notes), len(s.Variables))
			}
			s.Notes = append(s.Notes, note(fmt.Sprint(i)))
			if s.Variables == nil {
				s.Variables = map[string]json.RawMessage{}
			}
			s.Variables[fmt.Sprint(i)] = json.RawMessage(`1`)
		})
	}
}

func sessionRefused(t *testing.T, m sessions) {
	addNote(t, m, "c", "1")
	refused := errors.New("no")
	err := m.UpdateSession(t.Context(), "c", func(s *memory.Session) error {
		s.Notes[0].Text = "changed"
		s.Notes = append(s.Notes, note("2"))
		return refused
	})
	if !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
	wantSession(t, m, "c", memory.Session{Notes: []memory.Note{note("1")}})
}

func sessionConcurrent(t *testing.T, m sessions) {
	const writers, each = 6, 5
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				id := fmt.Sprintf("%d-%d", w, i)
				err := m.UpdateSession(t.Context(), "c", func(s *memory.Session) error {
					s.Notes = append(s.Notes, note(id))
					return nil
				})
				if err != nil {
					t.Errorf("update: %v", err)
				}
			}
		})
	}
	wg.Wait()
	got, err := m.Session(t.Context(), "c")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, n := range got.Notes {
		seen[n.ID] = true
	}
	if len(seen) != writers*each || len(got.Notes) != writers*each {
		t.Errorf("%d notes, %d different, want %d", len(got.Notes), len(seen), writers*each)
	}
}

func sessionCopies(t *testing.T, m sessions) {
	update(t, m, "c", func(s *memory.Session) {
		s.Variables = map[string]json.RawMessage{"v": json.RawMessage(`"a"`)}
	})
	got, err := m.Session(t.Context(), "c")
	if err != nil {
		t.Fatal(err)
	}
	got.Variables["v"][1] = 'b'
	got.Variables["w"] = json.RawMessage(`1`)
	wantSession(t, m, "c", memory.Session{Variables: map[string]json.RawMessage{"v": json.RawMessage(`"a"`)}})
}

func sessionEmptied(t *testing.T, m sessions) {
	addNote(t, m, "c", "1")
	update(t, m, "c", func(s *memory.Session) { *s = memory.Session{} })
	wantSession(t, m, "c", memory.Session{})
	addNote(t, m, "c", "2")
	wantSession(t, m, "c", memory.Session{Notes: []memory.Note{note("2")}})
}

func sessionContext(t *testing.T, m sessions) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.UpdateSession(ctx, "c", func(*memory.Session) error { return nil }); err == nil {
		t.Error("update: no error")
	}
	if _, err := m.Session(ctx, "c"); err == nil {
		t.Error("read: no error")
	}
	wantSession(t, m, "c", memory.Session{})
}

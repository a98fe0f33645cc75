package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/stop"
)

// NewMemory returns an empty memory to test, independent of any other.
type NewMemory func(t *testing.T) memory.Store

// MemorySuite tests a memory against the contract of memory.Store, and of
// memory.SessionStore if the memory implements it.
func MemorySuite(t *testing.T, newMemory NewMemory) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, memory.Store)
	}{
		{"an unknown id is an empty conversation", memoryUnknown},
		{"every field is stored", memoryRoundTrip},
		{"interactions are returned in the order they were added", memoryOrder},
		{"several interactions are added at once", memorySeveral},
		{"interactions of several conversations are added at once", memoryAcross},
		{"a large append is atomic", memoryWhole},
		{"conversations are isolated", memoryIsolation},
		{"an interaction added again changes nothing", memoryIdempotent},
		{"an interaction with the same id is replaced in place", memoryReplace},
		{"ids and texts may be any text", memoryUnicode},
		{"a megabyte is stored", memoryLarge},
		{"interactions added concurrently are all stored", memoryConcurrent},
		{"the returned values belong to the caller", memoryCopies},
		{"an ended context ends the operation", memoryContext},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, newMemory(t)) })
	}
	for _, c := range sessionCases {
		t.Run(c.name, func(t *testing.T) {
			m, ok := newMemory(t).(sessions)
			if !ok {
				t.Skip("this memory has no sessions")
			}
			c.run(t, m)
		})
	}
}

// interaction returns an interaction for a test.
func interaction(memoryID, id string) memory.Interaction {
	return memory.Interaction{
		ID: id, MemoryID: memoryID, Question: "q " + id, Answer: "a " + id, Status: stop.RunCompleted,
		At: time.Date(2026, 11, 20, 10, 0, 0, 123456789, time.UTC),
	}
}

func add(t *testing.T, m memory.Store, all ...memory.Interaction) {
	t.Helper()
	for _, in := range all {
		if err := m.Append(t.Context(), in); err != nil {
			t.Fatalf("append %s: %v", in.ID, err)
		}
	}
}

func wantHistory(t *testing.T, m memory.Store, memoryID string, want ...memory.Interaction) {
	t.Helper()
	got, err := m.History(t.Context(), memoryID)
	if err != nil {
		t.Fatalf("history %q: %v", memoryID, err)
	}
	if len(got) == 0 && len(want) == 0 {
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("history %q (-want +got):\n%.4000s", memoryID, diff)
	}
}

func memoryUnknown(t *testing.T, m memory.Store) {
	wantHistory(t, m, "unknown")
	add(t, m, interaction("other", "1"))
	wantHistory(t, m, "unknown")
}

func memoryRoundTrip(t *testing.T, m memory.Store) {
	in := interaction("c", "1")
	in.ParentID, in.RunID, in.Agent, in.Status = "0", "run-1", "agent", stop.RunStopped
	in.Trace = json.RawMessage(`{"steps":[{"id":"s1","n":12345678901234567890}]}`)
	add(t, m, in)
	wantHistory(t, m, "c", in)
}

func memoryOrder(t *testing.T, m memory.Store) {
	var want []memory.Interaction
	for i := range 12 {
		in := interaction("c", fmt.Sprintf("id-%d", (i*7)%12))
		in.At = in.At.Add(-time.Duration(i) * time.Hour) // order of insertion, not of time
		want = append(want, in)
		add(t, m, in)
	}
	wantHistory(t, m, "c", want...)
}

func addAtOnce(t *testing.T, m memory.Store, all ...memory.Interaction) {
	t.Helper()
	if err := m.Append(t.Context(), all...); err != nil {
		t.Fatalf("append %d: %v", len(all), err)
	}
}

func memorySeveral(t *testing.T, m memory.Store) {
	addAtOnce(t, m)
	one, two, three := interaction("c", "1"), interaction("c", "2"), interaction("c", "3")
	addAtOnce(t, m, one, two)
	addAtOnce(t, m, two, three) // an existing interaction keeps its position
	wantHistory(t, m, "c", one, two, three)
	better := two
	better.Answer = "better"
	last := interaction("c", "4")
	addAtOnce(t, m, last, two, better, last)
	wantHistory(t, m, "c", one, better, three, last)
}

func memoryAcross(t *testing.T, m memory.Store) {
	addAtOnce(t, m, interaction("c", "1"), interaction("d", "1"), interaction("c", "2"), interaction("d", "2"))
	addAtOnce(t, m, interaction("d", "3"), interaction("e", "1"))
	wantHistory(t, m, "c", interaction("c", "1"), interaction("c", "2"))
	wantHistory(t, m, "d", interaction("d", "1"), interaction("d", "2"), interaction("d", "3"))
	wantHistory(t, m, "e", interaction("e", "1"))
}

// memoryWhole adds more interactions at once than fit a transaction of the store, during
// concurrent reads.
func memoryWhole(t *testing.T, m memory.Store) {
	const times, many = 3, 40
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for range 2 * times {
				got, err := m.History(t.Context(), "c")
				if err != nil || len(got)%many != 0 {
					t.Errorf("%d interactions are visible: %v", len(got), err)
				}
			}
		})
	}
	var want []memory.Interaction
	for i := range times {
		var all []memory.Interaction
		for n := range many {
			in := interaction("c", fmt.Sprintf("%d-%d", i, n))
			in.Answer = strings.Repeat("0123456789abcdef", 1<<9)
			all = append(all, in)
		}
		addAtOnce(t, m, all...)
		want = append(want, all...)
	}
	wg.Wait()
	wantHistory(t, m, "c", want...)
}

func memoryIsolation(t *testing.T, m memory.Store) {
	ids := []string{"a", "ab", "a/", "a/b", "a:1", "a\x00", "a\x00b", "A", " a", "..", "a%2Fb", strings.Repeat("a", 200)}
	for _, id := range ids {
		add(t, m, interaction(id, "1"), interaction(id, "b"))
	}
	for _, id := range ids {
		wantHistory(t, m, id, interaction(id, "1"), interaction(id, "b"))
	}
	wantHistory(t, m, "a/b1")
}

func memoryIdempotent(t *testing.T, m memory.Store) {
	first, second := interaction("c", "1"), interaction("c", "2")
	add(t, m, first, second, first, second, second)
	wantHistory(t, m, "c", first, second)
}

func memoryReplace(t *testing.T, m memory.Store) {
	first, second := interaction("c", "1"), interaction("c", "2")
	elsewhere := interaction("d", "1")
	add(t, m, first, second, elsewhere)
	first.Answer, first.Status = "better", stop.RunFailed
	add(t, m, first)
	wantHistory(t, m, "c", first, second)
	wantHistory(t, m, "d", elsewhere)
}

func memoryUnicode(t *testing.T, m memory.Store) {
	in := interaction("gespräch/会話 🙂 \"x\"\n", "é/🙂 1")
	in.Question, in.Answer = "こんにちは \u2028 <b>&", "tab\t, null \x00, ${parameters.x}, \\"
	add(t, m, in)
	wantHistory(t, m, in.MemoryID, in)
	wantHistory(t, m, "gesprach/会話 🙂 \"x\"\n")
}

func memoryLarge(t *testing.T, m memory.Store) {
	big := interaction("c", "big")
	big.Answer = strings.Repeat("0123456789abcdef", 1<<16)
	add(t, m, interaction("c", "before"), big, interaction("c", "after"))
	wantHistory(t, m, "c", interaction("c", "before"), big, interaction("c", "after"))
}

func memoryConcurrent(t *testing.T, m memory.Store) {
	const writers, each = 8, 6
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				for _, id := range []string{"shared", fmt.Sprintf("own-%d", w)} {
					if err := m.Append(t.Context(), interaction(id, fmt.Sprintf("%d-%d", w, i))); err != nil {
						t.Errorf("append: %v", err)
					}
					if _, err := m.History(t.Context(), "shared"); err != nil {
						t.Errorf("history: %v", err)
					}
				}
			}
		})
	}
	wg.Wait()
	checkAllStored(t, m, writers, each)
}

// checkAllStored checks that no interaction is lost or duplicated, and that those of each
// writer are in the order of their insertion.
func checkAllStored(t *testing.T, m memory.Store, writers, each int) {
	t.Helper()
	got, err := m.History(t.Context(), "shared")
	if err != nil {
		t.Fatal(err)
	}
	next := make(map[int]int)
	for _, in := range got {
		var w, i int
		if _, err := fmt.Sscanf(in.ID, "%d-%d", &w, &i); err != nil {
			t.Fatalf("id %q: %v", in.ID, err)
		}
		if i != next[w] {
			t.Errorf("writer %d: interaction %d where %d was next", w, i, next[w])
		}
		next[w] = i + 1
	}
	if len(got) != writers*each {
		t.Errorf("%d interactions, want %d", len(got), writers*each)
	}
}

func memoryCopies(t *testing.T, m memory.Store) {
	in := interaction("c", "1")
	in.Trace = json.RawMessage(`{"a":1}`)
	add(t, m, in)
	in.Trace[2] = 'b'
	got, err := m.History(t.Context(), "c")
	if err != nil || len(got) != 1 {
		t.Fatalf("%v, %v", got, err)
	}
	got[0].Trace[2], got[0].Answer = 'c', "changed"
	want := interaction("c", "1")
	want.Trace = json.RawMessage(`{"a":1}`)
	wantHistory(t, m, "c", want)
}

func memoryContext(t *testing.T, m memory.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Append(ctx, interaction("c", "1")); err == nil {
		t.Error("append: no error")
	}
	if _, err := m.History(ctx, "c"); err == nil {
		t.Error("history: no error")
	}
	wantHistory(t, m, "c")
}

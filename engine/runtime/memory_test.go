package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
)

// endsWith returns a node that ends steps, each given as "id status result".
func endsWith(steps ...string) nodeFunc {
	return func(s engine.Scope) error {
		for _, text := range steps {
			f := strings.SplitN(text, " ", 3)
			s.Record(engine.StepEnded{Record: plan.StepRecord{
				ID: f[0], Goal: "goal of " + f[0], Status: plan.Status(f[1]), Result: f[2], Error: "error of " + f[0],
			}})
		}
		s.Record(engine.Answered{Answer: engine.Answer{Text: "the answer"}})
		return nil
	}
}

// programWithMemory returns a program of one node that stores its conversation.
func programWithMemory(node nodeFunc) *engine.Program {
	p := program(map[string]nodeFunc{"a": node})
	p.Memory.Backend = "badger"
	p.Limits.MessageHistoryLimit, p.Limits.ExecutorMessageHistoryLimit = 10, 10
	return p
}

// turnOf runs a program in a conversation.
func turnOf(p *engine.Program, store memory.Store, in engine.Input) *engine.Result {
	in.Parameters = map[string]any{"question": "question of " + in.RunID}
	return execute(context.Background(), p, in, engine.Host{Memory: store}, runtime.Options{Virtual: true})
}

func storedHistory(t *testing.T, store memory.Store, id string) []memory.Interaction {
	t.Helper()
	all, err := store.History(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// lastReplies returns the questions of interactions, in order.
func lastReplies(all []memory.Interaction) string {
	var out []string
	for _, in := range all {
		out = append(out, in.Question)
	}
	return strings.Join(out, ", ")
}

func TestStepsAreStoredInTheExecutorsConversation(t *testing.T) {
	store := &enginetest.Store{}
	res := turnOf(programWithMemory(endsWith("s1 ok one", "s2 failed part", "s3 skipped ", "s4 ok four")), store, engine.Input{RunID: "r1", MemoryID: "m"})
	turns, steps := storedHistory(t, store, "m"), storedHistory(t, store, res.ExecutorMemoryID)
	if len(turns) != 1 || len(steps) != 3 || store.Appends() != 1 {
		t.Fatalf("%d turns, %d steps, %d calls of the store", len(turns), len(steps), store.Appends())
	}
	if res.ExecutorMemoryID != memory.ExecutorID("m") || res.ParentInteractionID != turns[0].ID || res.ExecutorInteractionID != steps[2].ID {
		t.Errorf("the result names %q, %q, %q", res.ExecutorMemoryID, res.ParentInteractionID, res.ExecutorInteractionID)
	}
	if len(turns[0].Trace) == 0 || !strings.Contains(string(turns[0].Trace), "goal of s3") {
		t.Errorf("the turn's trace is %s", turns[0].Trace)
	}
	var got []string
	parent := turns[0].ID
	for _, in := range steps {
		got = append(got, fmt.Sprintf("%s %s %q %v", in.RunID, in.Status, in.Answer, in.ParentID == parent))
		parent = in.ID
	}
	want := []string{`r1 completed "one" true`, `r1 failed "part" true`, `r1 completed "four" true`}
	if !slices.Equal(got, want) {
		t.Errorf("stored %q, want %q", got, want)
	}
}

// TestLaterRunSeesEarlierTurnsAndSteps checks which turns and steps of earlier runs a node
// of a later run sees.
func TestLaterRunSeesEarlierTurnsAndSteps(t *testing.T) {
	failing := func(s engine.Scope) error {
		if err := endsWith("s1 ok of a failed run")(s); err != nil {
			return err
		}
		return stop.Fail(stop.StepFailed, "", "it failed")
	}
	tests := []struct {
		name         string
		earlier      []nodeFunc
		in           engine.Input
		turns, steps int // limits
		wantTurns    string
		wantSteps    string
		parent       int // number of the turn before the last run, from 1; 0 = none
	}{
		{"nothing of an empty conversation", nil, engine.Input{MemoryID: "m"}, 10, 10, "", "", 0},
		{
			"turns, and steps in order",
			[]nodeFunc{endsWith("s1 ok a", "s2 ok b"), endsWith("s3 ok c")},
			engine.Input{MemoryID: "m"},
			10, 10, "question of r1, question of r2", "goal of s1, goal of s2, goal of s3", 2,
		},
		{
			"only those of the caller, who knows the conversation",
			[]nodeFunc{endsWith("s1 ok a")},
			engine.Input{MemoryID: "m", EarlierOnly: true, Earlier: []memory.Interaction{{Question: "from the caller", Answer: "yes", Status: stop.RunCompleted}}},
			10, 10, "from the caller", "", 1,
		},
		{
			"failed steps are left out before the limit",
			[]nodeFunc{endsWith("s1 ok a", "s2 ok b", "s3 failed c", "s4 limit d")},
			engine.Input{MemoryID: "m"},
			10, 2, "question of r1", "goal of s1, goal of s2", 1,
		},
		{
			"failed runs are left out before the limit",
			[]nodeFunc{endsWith("s1 ok a"), failing},
			engine.Input{MemoryID: "m"},
			1, 1, "question of r1", "goal of s1", 1,
		},
		{
			"the newest",
			[]nodeFunc{endsWith("s1 ok a"), endsWith("s2 ok b"), endsWith("s3 ok c")},
			engine.Input{MemoryID: "m"},
			1, 2, "question of r3", "goal of s2, goal of s3", 3,
		},
		{"another conversation", []nodeFunc{endsWith("s1 ok a")}, engine.Input{MemoryID: "other"}, 10, 10, "", "", 0},
		{"a new conversation", []nodeFunc{endsWith("s1 ok a")}, engine.Input{}, 10, 10, "", "", 0},
		{
			"the steps of another conversation",
			[]nodeFunc{endsWith("s1 ok a")},
			engine.Input{MemoryID: "other", ExecutorMemoryID: memory.ExecutorID("m")},
			10, 10, "", "goal of s1", 0,
		},
		{
			"the steps alone",
			[]nodeFunc{endsWith("s1 ok a")},
			engine.Input{ExecutorMemoryID: memory.ExecutorID("m")},
			10, 10, "", "goal of s1", 0,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store := &enginetest.Store{}
			for i, node := range tt.earlier {
				turnOf(programWithMemory(node), store, engine.Input{RunID: fmt.Sprintf("r%d", i+1), MemoryID: "m"})
			}
			before := storedHistory(t, store, "m")
			var seen engine.State
			p := programWithMemory(func(s engine.Scope) error {
				seen = s.View().State
				return endsWith("s9 ok z")(s)
			})
			p.Limits.MessageHistoryLimit, p.Limits.ExecutorMessageHistoryLimit = tt.turns, tt.steps
			tt.in.RunID = "last"
			res := turnOf(p, store, tt.in)
			if got := lastReplies(seen.History); got != tt.wantTurns {
				t.Errorf("turns %q, want %q", got, tt.wantTurns)
			}
			if got := lastReplies(seen.Earlier); got != tt.wantSteps {
				t.Errorf("steps %q, want %q", got, tt.wantSteps)
			}
			turns := storedHistory(t, store, res.MemoryID)
			parent, want := turns[len(turns)-1].ParentID, ""
			if tt.parent > 0 {
				want = before[tt.parent-1].ID
			}
			if parent != want {
				t.Errorf("its parent is %q, want %q", parent, want)
			}
		})
	}
}

// TestJournalsDoNotGrowWithTheConversation checks that the history is limited before it is
// journaled.
func TestJournalsDoNotGrowWithTheConversation(t *testing.T) {
	store := &enginetest.Store{}
	var sizes []int
	for i := range 30 {
		j := &journal.Memory{RoundTrip: true}
		p := programWithMemory(endsWith("s1 ok "+strings.Repeat("a", 500), "s2 failed "+strings.Repeat("b", 500)))
		p.Limits.MessageHistoryLimit, p.Limits.ExecutorMessageHistoryLimit = 3, 3
		in := engine.Input{RunID: fmt.Sprintf("r%02d", i), MemoryID: "m", Parameters: map[string]any{"question": "q"}}
		execute(t.Context(), p, in, engine.Host{Memory: store}, runtime.Options{Virtual: true, Journal: j})
		size := 0
		for _, rec := range j.Records {
			size += len(rec.Body)
		}
		sizes = append(sizes, size)
	}
	if sizes[0] >= sizes[5] || sizes[29] != sizes[5] {
		t.Errorf("bytes in the journal of each run: %v", sizes)
	}
}

func TestResultHasOnlyIDsOfStoredInteractions(t *testing.T) {
	tests := []struct {
		name   string
		store  memory.Store
		none   bool
		node   nodeFunc
		warned bool
	}{
		{"no memory", nil, false, endsWith("s1 ok a"), false},
		{"backend none", &enginetest.Store{}, true, endsWith("s1 ok a"), false},
		{"a memory that refuses", &enginetest.Store{Err: &memory.RefusedError{Err: errors.New("too large")}}, false, endsWith("s1 ok a"), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := programWithMemory(tt.node)
			if tt.none {
				p.Memory.Backend = "none"
			}
			res := turnOf(p, tt.store, engine.Input{RunID: "r"})
			if res.Status != stop.RunCompleted || res.ParentInteractionID != "" || res.ExecutorInteractionID != "" || len(res.Warnings) > 0 != tt.warned {
				t.Errorf("%s, %q, %q, %q", res.Status, res.ParentInteractionID, res.ExecutorInteractionID, res.Warnings)
			}
		})
	}
}

// TestReplayStoresWhatAnEarlierVersionStored replays a journal in which an earlier version
// stored a run that this version would end differently.
func TestReplayStoresWhatAnEarlierVersionStored(t *testing.T) {
	store, j := &enginetest.Store{}, &journal.Memory{RoundTrip: true}
	in := engine.Input{RunID: "r1", MemoryID: "m"}
	ends := func(node nodeFunc) *engine.Result {
		return execute(t.Context(), programWithMemory(node), in, engine.Host{Memory: store}, runtime.Options{Virtual: true, Journal: j})
	}
	ends(endsWith("s1 ok deny"))
	refused := func(s engine.Scope) error {
		s.Record(engine.Answered{})
		return stop.Denied("graph.nodes.a", "a person denied it")
	}
	if res := ends(refused); res.StopReason.Code != stop.Cancelled || res.ParentInteractionID == "" || store.Appends() != 1 {
		t.Errorf("replayed: %+v, stored as %q, %d calls of the store", res.StopReason, res.ParentInteractionID, store.Appends())
	}
	in.RunID, j = "r2", &journal.Memory{}
	if res := ends(refused); res.StopReason.Code != stop.Cancelled || res.ParentInteractionID != "" || store.Appends() != 1 {
		t.Errorf("a new run: %+v, stored as %q, %d calls of the store", res.StopReason, res.ParentInteractionID, store.Appends())
	}
}

package engine

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

func (r *run) identify(s *Scope) {
	r.ids = identity{
		memory: r.input.MemoryID, interaction: s.ID("interaction"),
		executorMemory: s.ID("executor/memory"), executorInteraction: s.ID("executor/interaction"),
	}
	if r.ids.memory == "" {
		r.ids.memory = s.ID("memory")
	}
}

func (r *run) remembers() bool {
	return r.host.Memory != nil && r.program.Memory.Backend != "none"
}

// readHistory reads the conversation this run goes on with, if it does:
// answered interactions only, then the newest of them.
func (r *run) readHistory(s *Scope) error {
	if !r.remembers() || r.input.MemoryID == "" && !r.program.Memory.History {
		return nil
	}
	memory, id := r.host.Memory, r.ids.memory
	all, err := kernel.Do(s.k, kernel.Effect[[]Interaction]{
		Name: "memory.read", Class: journal.Read, Digest: digest([]byte(id)),
		Perform: func(ctx context.Context, _ string) ([]Interaction, error) { return readAll(memory.History(ctx, id)) },
	})
	if err != nil {
		return storeStop("read the conversation "+id, err)
	}
	var kept []Interaction
	for _, in := range all {
		if in.Answer != "" && (in.Status == Completed || in.Status == Stopped) {
			kept = append(kept, in)
		}
	}
	if n := r.program.Limits.MessageHistoryLimit; len(kept) > n {
		kept = kept[len(kept)-n:]
	}
	if len(kept) > 0 {
		s.Record(HistoryRead{kept})
	}
	return nil
}

// remember adds this run to its conversation.
func (r *run) remember(s *Scope) error {
	if !r.remembers() || r.reason.Status == Interrupted || r.reason.Status == Cancelled {
		return nil
	}
	trace, err := json.Marshal(r.state.Steps)
	if err != nil {
		return err
	}
	in := Interaction{
		ID: r.ids.interaction, MemoryID: r.ids.memory, RunID: r.input.RunID, Agent: r.program.Name,
		Question: r.state.Question, Answer: r.answerText(), Status: r.reason.Status,
		At: r.started.Add(s.Now()).Round(time.Millisecond), Trace: trace,
	}
	if n := len(r.state.History); n > 0 {
		in.ParentID = r.state.History[n-1].ID
	}
	memory := r.host.Memory
	_, err = kernel.Do(s.k, kernel.Effect[bool]{
		Name: "memory.add", Class: journal.Idempotent, Digest: digest([]byte(in.ID)),
		Perform: func(ctx context.Context, _ string) (bool, error) { return true, memory.Append(ctx, in) },
	})
	if err != nil {
		// The answer is there and paid for: losing it for its conversation's sake helps nobody.
		s.Record(Warned{"the conversation was not kept: " + err.Error()})
	}
	return nil
}

// readAll keeps the stop code of a store's error where the journal would lose it.
func readAll(in []Interaction, err error) ([]Interaction, error) {
	var coded interface{ StopCode() StopCode }
	if errors.As(err, &coded) {
		err = &journal.Failure{Code: string(coded.StopCode()), Message: err.Error()}
	}
	return in, err
}

// storeStop ends the run with the code its store gave.
func storeStop(what string, err error) error {
	code := StopInternal
	var f *journal.Failure
	if errors.As(err, &f) && (f.Code == string(StopStoreFull) || f.Code == string(StopStoreCorrupt)) {
		code = StopCode(f.Code)
	}
	return Fail(code, "memory", "%s: %v", what, err)
}

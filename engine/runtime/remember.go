package runtime

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/runtime/replay"
	"github.com/pexctl/pex/engine/stop"
)

// remembered is the effect that keeps a run.
const remembered = "memory.add"

// remember adds this run to its conversation, and its steps to the executor's:
// all in one call of the store.
func (r *run) remember(s *scope) error {
	cancelled := r.reason.Status == stop.RunCancelled && !s.k.Next(remembered) // earlier versions cancelled less
	if !r.remembers() || r.input.Aside || r.reason.Status == stop.RunInterrupted || cancelled {
		return nil
	}
	turn, err := r.turn(s)
	if err != nil {
		return err
	}
	all := append([]memory.Interaction{turn}, r.stepsOf(s, turn)...)
	memory := r.host.Memory
	_, err = kernel.Do(s.k, kernel.Effect[bool]{
		Name: remembered, Class: journal.Idempotent, Layer: replay.LayerMemory, Digest: digest([]byte(turn.ID)),
		Perform: func(ctx context.Context, _ string) (bool, error) {
			ctx, cancel := r.boundStore(ctx)
			defer cancel()
			return true, storeTrouble("the answer is complete, but not yet stored in conversation "+turn.MemoryID, memory.Append(ctx, all...))
		},
	})
	if err != nil { // the memory refused it: the answer is complete all the same
		s.Record(engine.WarningAdded{Text: "the conversation was not stored: " + err.Error()})
		return nil
	}
	r.ids.interaction = turn.ID
	if len(all) > 1 {
		r.ids.executorInteraction = all[len(all)-1].ID
	}
	return nil
}

// turn is the run as its conversation keeps it; its trace is the steps, whole.
func (r *run) turn(s *scope) (memory.Interaction, error) {
	trace, err := json.Marshal(r.state.Steps)
	return memory.Interaction{
		ID: s.ID("interaction"), MemoryID: r.ids.memory, ParentID: r.ids.parent,
		RunID: r.input.RunID, Agent: r.program.Name,
		Question: r.state.Question, Answer: r.answerText(), Status: r.reason.Status,
		At: r.started.Add(s.Now()).Round(time.Millisecond), Trace: trace,
	}, err
}

// stepsOf is the steps that ran, as the executor's conversation keeps them: each
// behind the one before it, the first behind the run's own turn. Completed are
// those that later executors may be shown: they ended ok, in a run that did not
// fail. What a step called stands in the trace of the turn.
func (r *run) stepsOf(s *scope, turn memory.Interaction) []memory.Interaction {
	out := make([]memory.Interaction, 0, len(r.state.Steps))
	parent := turn.ID
	for i := range r.state.Steps {
		rec := &r.state.Steps[i]
		if rec.Status == plan.Skipped {
			continue
		}
		in := turn
		in.MemoryID, in.ParentID, in.Trace = r.ids.executorMemory, parent, nil
		in.ID = s.ID("executor/interaction/" + strconv.Itoa(i))
		in.Question, in.Answer, in.Status = rec.Goal, cmp.Or(rec.Result, rec.Error), stop.RunFailed
		if rec.Status == plan.OK && turn.Status != stop.RunFailed {
			in.Answer, in.Status = rec.Result, stop.RunCompleted
		}
		out = append(out, in)
		parent = in.ID
	}
	return out
}

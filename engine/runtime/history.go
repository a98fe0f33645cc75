package runtime

import (
	"cmp"
	"context"
	"slices"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/runtime/replay"
	"github.com/pexctl/pex/engine/stop"
)

// ExecutorMemoryOf is the id under which the steps of a conversation's runs are
// kept, unless a run names another.
func ExecutorMemoryOf(memoryID string) string { return memoryID + "/executor" }

// identify names the conversation; ids of interactions are known once they are kept.
func (r *run) identify() {
	r.ids.memory = ConversationID(r.input)
	r.ids.executorMemory = cmp.Or(r.input.ExecutorMemoryID, ExecutorMemoryOf(r.ids.memory))
}

func (r *run) remembers() bool {
	return r.host.Memory != nil && r.program.Memory.Backend != "none"
}

// memoryRead names the effect that reads the conversation.
const memoryRead = "memory.read"

// continues says whether the run continues a conversation. Earlier versions also
// read an empty one where memory.history was set.
func (r *run) continues(s *scope) bool {
	return r.input.MemoryID != "" || r.input.ExecutorMemoryID != "" || s.k.Next(memoryRead)
}

// recalled is what a run is shown of earlier ones. The journal keeps no more
// than that: a conversation grows, and each of its runs reads it.
type recalled struct {
	Turns  []memory.Interaction `json:"turns,omitempty"`
	Steps  []memory.Interaction `json:"steps,omitempty"`
	Parent string               `json:"parent,omitempty"` // the last answered turn
}

// readHistory reads the conversation this run goes on with, if it does, and
// what its tools keep.
func (r *run) readHistory(s *scope) error {
	if !r.remembers() || !r.continues(s) {
		r.heard(s, recalled{})
		return nil
	}
	memory, ids, limits := r.host.Memory, r.ids, r.program.Limits
	if r.program.Memory.HideHistory {
		limits.MessageHistoryLimit, limits.ExecutorMessageHistoryLimit = 0, 0
	}
	found, err := kernel.Do(s.k, kernel.Effect[recalled]{
		Name: memoryRead, Class: journal.Read, Layer: replay.LayerMemory, Digest: digest([]byte(ids.memory + "\x00" + ids.executorMemory)),
		Perform: func(ctx context.Context, _ string) (recalled, error) {
			ctx, cancel := r.boundStore(ctx)
			defer cancel()
			found, err := recall(ctx, memory, ids, limits)
			return found, storeTrouble("read the conversation "+ids.memory, err)
		},
	})
	if err != nil {
		return stop.Fail(recordedCode(err), "memory", "read the conversation %s: %v", ids.memory, err)
	}
	r.ids.parent = found.Parent
	r.heard(s, found)
	return r.readSession(s)
}

// heard takes over what the memory held, and behind it what the run was given.
func (r *run) heard(s *scope, found recalled) {
	turns := newest(append(found.Turns, r.input.Earlier...), r.program.Limits.MessageHistoryLimit)
	if len(turns)+len(found.Steps) > 0 {
		s.Record(engine.HistoryRead{Interactions: turns, Steps: found.Steps})
	}
}

// recall reads both memories of a conversation: what may be shown of them is
// filtered first, then limited to the newest.
func recall(ctx context.Context, memory memory.Store, ids identity, limits engine.Limits) (recalled, error) {
	turns, err := memory.History(ctx, ids.memory)
	if err != nil {
		return recalled{}, err
	}
	steps, err := memory.History(ctx, ids.executorMemory)
	if err != nil {
		return recalled{}, err
	}
	turns, steps = shown(turns, stop.RunCompleted, stop.RunStopped), shown(steps, stop.RunCompleted)
	found := recalled{
		Turns: newest(turns, limits.MessageHistoryLimit),
		Steps: newest(steps, limits.ExecutorMessageHistoryLimit),
	}
	if len(turns) > 0 {
		found.Parent = turns[len(turns)-1].ID
	}
	return found, nil
}

// shown is the interactions that have an answer and one of the statuses,
// without what only people read.
func shown(all []memory.Interaction, statuses ...stop.RunStatus) []memory.Interaction {
	var out []memory.Interaction
	for _, in := range all {
		if in.Answer != "" && slices.Contains(statuses, in.Status) {
			in.Trace = nil
			out = append(out, in)
		}
	}
	return out
}

func newest(all []memory.Interaction, n int) []memory.Interaction { return all[max(0, len(all)-n):] }

// ConversationID returns the id of the conversation that a run belongs to:
// in.MemoryID, or the id of the new conversation that the run starts.
func ConversationID(in engine.Input) string {
	return cmp.Or(in.MemoryID, kernel.ID(in.RunID, "", "memory"))
}

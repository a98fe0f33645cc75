package runtime

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/runtime/replay"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
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

// boundSession is the session of one conversation.
type boundSession struct {
	memory memory.SessionStore
	id     string
}

var _ tool.CallSession = boundSession{}

func (b boundSession) Read(ctx context.Context) (memory.Session, error) {
	s, err := b.memory.Session(ctx, b.id)
	return s, sessionTrouble(err)
}

func (b boundSession) Update(ctx context.Context, change func(*memory.Session) error) error {
	var refused error
	err := b.memory.UpdateSession(ctx, b.id, func(s *memory.Session) error {
		refused = change(s)
		return refused
	})
	if refused != nil {
		return err
	}
	return sessionTrouble(err)
}

// session is what the conversation of this run, or of the one it is nested in,
// keeps; nil where nothing is kept.
func (r *run) session() tool.CallSession {
	if r.program.Memory.Backend == "none" {
		return nil
	}
	root := r.root()
	if memory, ok := root.host.Memory.(memory.SessionStore); ok && root.remembers() {
		return boundSession{memory, root.ids.memory}
	}
	return nil
}

// root is the run that is nested in no other.
func (r *run) root() *run {
	for r.parent != nil {
		r = r.parent
	}
	return r
}

// keeps is the parts of the session that this run's tools keep.
func (r *run) keeps() (notes, variables bool) {
	for i := range r.host.Tools {
		if t, ok := r.host.Tools[i].Tool.(tool.SessionKeeper); ok {
			notes = notes || t.Keeps() == memory.NotesPart
			variables = variables || t.Keeps() == memory.VariablesPart
		}
	}
	return notes, variables
}

// readSession reads what this run's tools kept in earlier runs of the
// conversation. Without it the run is poorer, and goes on.
func (r *run) readSession(s *scope) error {
	notes, variables := r.keeps()
	kept := r.session()
	if kept == nil || !notes && !variables {
		return nil
	}
	view, err := kernel.Do(s.k, kernel.Effect[memory.SessionView]{
		Name: "memory.session", Class: journal.Read, Layer: replay.LayerMemory, Digest: digest([]byte(r.root().ids.memory)),
		Perform: func(ctx context.Context, _ string) (memory.SessionView, error) {
			ctx, cancel := r.boundStore(ctx)
			defer cancel()
			found, err := kept.Read(ctx)
			if !notes {
				found.Notes = nil
			}
			if !variables {
				found.Variables = nil
			}
			return found.View(), err
		},
	})
	var f *journal.Failure
	switch {
	case errors.As(err, &f):
		s.Record(engine.WarningAdded{Text: "what earlier runs kept for this conversation could not be read: " + f.Message})
	case err != nil:
		return err
	case !view.Empty():
		s.Record(engine.SessionRead{Session: view})
	}
	return nil
}

// storeTrouble makes an error of the memory one that suspends the session, unless
// the memory refused what it was given: then no later attempt does better, and
// the error stays what it is.
func storeTrouble(doing string, err error) error {
	if _, refused := errors.AsType[*memory.RefusedError](err); err == nil || refused {
		return err
	}
	return &kernel.Unavailable{Err: fmt.Errorf("%s: %w", doing, err)}
}

// recordedCode is the stop code of a memory's error in a journal. Earlier
// versions ended a run with one, and kept its code.
func recordedCode(err error) stop.Code {
	f, _ := errors.AsType[*journal.Failure](err)
	if f != nil && (f.Code == string(stop.StoreFull) || f.Code == string(stop.StoreCorrupt)) {
		return stop.Code(f.Code)
	}
	return stop.Internal
}

// sessionError is the memory's trouble with a tool's notes or variables. The
// call fails and the run goes on, with a warning.
type sessionError struct{ err error }

func (e *sessionError) Error() string { return e.err.Error() }
func (e *sessionError) Unwrap() error { return e.err }

func sessionTrouble(err error) error {
	if _, refused := errors.AsType[*memory.RefusedError](err); err == nil || refused {
		return err
	}
	return &sessionError{err}
}

// boundStore bounds the wait for a memory that other processes use by
// limits.max_duration.
func (r *run) boundStore(ctx context.Context) (context.Context, context.CancelFunc) {
	if d := r.program.Limits.MaxDuration; d > 0 {
		return context.WithTimeout(ctx, d)
	}
	return context.WithCancel(ctx)
}

// storeCode is the stop code of an error of the memory or of the journal.
func storeCode(err error) stop.Code {
	var coded interface{ StopCode() stop.Code }
	switch {
	case errors.As(err, &coded):
		return coded.StopCode()
	case errors.Is(err, journal.ErrFull):
		return stop.StoreFull
	case errors.Is(err, journal.ErrCorrupt):
		return stop.StoreCorrupt
	default:
		return stop.StoreUnavailable
	}
}

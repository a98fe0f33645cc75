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

// setConversationIDs sets the ids of the conversations. Interaction ids are set once the
// interactions are stored.
func (r *run) setConversationIDs() {
	r.ids.memory = ConversationID(r.input)
	r.ids.executorMemory = cmp.Or(r.input.ExecutorMemoryID, memory.ExecutorID(r.ids.memory))
}

func (r *run) hasMemory() bool {
	return r.host.Memory != nil && r.program.Memory.Backend != "none"
}

// memoryRead is the name of the effect that reads the conversation.
const memoryRead = "memory.read"

// continuesConversation reports whether the run continues a conversation. Earlier
// versions also read an empty one if memory.history was set.
func (r *run) continuesConversation(s *scope) bool {
	return r.input.MemoryID != "" || r.input.ExecutorMemoryID != "" || s.k.Next(memoryRead)
}

// history is the part of a conversation shown to a run. The journal stores only this
// part, because conversations grow and each run reads them.
type history struct {
	Turns  []memory.Interaction `json:"turns,omitempty"`
	Steps  []memory.Interaction `json:"steps,omitempty"`
	Parent string               `json:"parent,omitempty"` // last answered turn
}

// readHistory reads the conversation that the run continues, if any, and the session
// state of its tools.
func (r *run) readHistory(s *scope) error {
	if !r.hasMemory() || !r.continuesConversation(s) {
		r.applyHistory(s, history{})
		return nil
	}
	limits := r.program.Limits
	w := &historyWork{site: &r.site, Memory: r.ids.memory, Executor: r.ids.executorMemory, Turns: limits.MessageHistoryLimit, Steps: limits.ExecutorMessageHistoryLimit, Timeout: limits.MaxDuration}
	if r.program.Memory.HideHistory || r.input.EarlierOnly {
		w.Turns, w.Steps = 0, 0
	}
	found, err := kernel.Do(s.k, kernel.Effect[history]{
		Name: memoryRead, Class: journal.Read, Layer: replay.LayerMemory, Digest: digest([]byte(w.Memory + "\x00" + w.Executor)),
		Work: w, Perform: func(ctx context.Context, _ string) (history, error) { return r.loadHistory(ctx, w) },
	})
	if err != nil {
		return stop.Fail(recordedCode(err), "memory", "read the conversation %s: %v", w.Memory, err)
	}
	r.ids.parent = found.Parent
	r.applyHistory(s, found)
	return r.readSession(s)
}

// applyHistory records the stored turns followed by those of the input.
func (r *run) applyHistory(s *scope, found history) {
	turns := newest(append(found.Turns, r.input.Earlier...), r.program.Limits.MessageHistoryLimit)
	if len(turns)+len(found.Steps) > 0 {
		s.Record(engine.HistoryRead{Interactions: turns, Steps: found.Steps})
	}
}

// loadHistory reads both conversations, drops what must not be shown, and keeps the
// newest interactions.
func (st *site) loadHistory(ctx context.Context, w *historyWork) (history, error) {
	ctx, cancel := boundStore(ctx, w.Timeout)
	defer cancel()
	turns, err := st.host.Memory.History(ctx, w.Memory)
	var steps []memory.Interaction
	if err == nil {
		steps, err = st.host.Memory.History(ctx, w.Executor)
	}
	if err != nil {
		return history{}, storeError("read the conversation "+w.Memory, err)
	}
	turns, steps = visibleInteractions(turns, stop.RunCompleted, stop.RunStopped), visibleInteractions(steps, stop.RunCompleted)
	found := history{Turns: newest(turns, w.Turns), Steps: newest(steps, w.Steps)}
	if len(turns) > 0 {
		found.Parent = turns[len(turns)-1].ID
	}
	return found, nil
}

// visibleInteractions returns the interactions that have an answer and one of the
// statuses, without their traces, which are for humans.
func visibleInteractions(all []memory.Interaction, statuses ...stop.RunStatus) []memory.Interaction {
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

// ConversationID returns the id of the conversation that a run belongs to: in.MemoryID,
// or the id of the new conversation that the run starts.
func ConversationID(in engine.Input) string {
	return cmp.Or(in.MemoryID, kernel.ID(in.RunID, "", "memory"))
}

// InteractionID returns the id of a run in its conversation. It is known before the run ends.
func InteractionID(run string) string { return kernel.ID(run, "", "interaction") }

// StepInteractionID returns the id of a step, by its index, in the conversation of the executor.
func StepInteractionID(run string, i int) string {
	return kernel.ID(run, "", "executor/interaction/"+strconv.Itoa(i))
}

// memoryAdd is the name of the effect that stores a run in its conversation.
const memoryAdd = "memory.add"

// storeConversation adds the run to its conversation and its steps to the executor's, in
// one call of the store.
func (r *run) storeConversation(s *scope) error {
	cancelled := r.reason.Status == stop.RunCancelled && !s.k.Next(memoryAdd) // earlier versions stored some runs that count as cancelled now
	if !r.hasMemory() || r.input.Detached || r.reason.Status == stop.RunInterrupted || cancelled {
		return nil
	}
	turn, err := r.interaction(s)
	if err != nil {
		return err
	}
	w := &storeWork{site: &r.site, Interactions: append([]memory.Interaction{turn}, r.stepInteractions(s, turn)...), Timeout: r.program.Limits.MaxDuration}
	_, err = kernel.Do(s.k, kernel.Effect[bool]{
		Name: memoryAdd, Class: journal.Idempotent, Layer: replay.LayerMemory, Digest: digest([]byte(turn.ID)),
		Work: w, Perform: func(ctx context.Context, _ string) (bool, error) { return true, r.store(ctx, w) },
	})
	if err != nil { // the store rejected it; the answer is complete nevertheless
		s.Record(engine.WarningAdded{Text: "the conversation was not stored: " + err.Error()})
		return nil
	}
	r.ids.interaction = turn.ID
	if all := w.Interactions; len(all) > 1 {
		r.ids.executorInteraction = all[len(all)-1].ID
	}
	return nil
}

// store stores the interactions of a run.
func (st *site) store(ctx context.Context, w *storeWork) error {
	ctx, cancel := boundStore(ctx, w.Timeout)
	defer cancel()
	return storeError("the answer is complete, but not yet stored in conversation "+w.Interactions[0].MemoryID, st.host.Memory.Append(ctx, w.Interactions...))
}

// interaction returns the run as its conversation stores it, with all steps as its trace.
func (r *run) interaction(s *scope) (memory.Interaction, error) {
	trace, err := json.Marshal(r.state.Steps)
	return memory.Interaction{
		ID: s.ID("interaction"), MemoryID: r.ids.memory, ParentID: r.ids.parent,
		RunID: r.input.RunID, Agent: r.program.Name,
		Question: r.state.Question, Answer: r.answerText(), Status: r.reason.Status,
		At: r.started.Add(s.Now()).Round(time.Millisecond), Trace: trace,
	}, err
}

// stepInteractions returns the executed steps as the executor's conversation stores them,
// each the child of the one before, the first the child of the run's own turn. Steps that
// may be shown to later executors have status completed: they ended ok in a run that did
// not fail. The trace of the turn has the steps' tool calls.
func (r *run) stepInteractions(s *scope, turn memory.Interaction) []memory.Interaction {
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

// boundSession is the session state of one conversation.
type boundSession struct {
	memory memory.SessionStore
	id     string
}

var _ tool.CallSession = boundSession{}

func (b boundSession) Read(ctx context.Context) (memory.Session, error) {
	s, err := b.memory.Session(ctx, b.id)
	return s, asSessionError(err)
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
	return asSessionError(err)
}

// root returns the outermost run.
func (r *run) root() *run {
	for r.parent != nil {
		r = r.parent
	}
	return r
}

// sessionParts reports which parts of the session state the run's tools use.
func (r *run) sessionParts() (notes, variables bool) {
	for i := range r.host.Tools {
		if t, ok := r.host.Tools[i].Tool.(tool.SessionKeeper); ok {
			notes = notes || t.SessionPart() == memory.NotesPart
			variables = variables || t.SessionPart() == memory.VariablesPart
		}
	}
	return notes, variables
}

// readSession reads the session state that the run's tools use. A failure is only a
// warning.
func (r *run) readSession(s *scope) error {
	w := &sessionWork{site: &r.site, Timeout: r.program.Limits.MaxDuration}
	w.Notes, w.Variables = r.sessionParts()
	if r.session() == nil || !w.Notes && !w.Variables {
		return nil
	}
	view, err := kernel.Do(s.k, kernel.Effect[memory.SessionView]{
		Name: "memory.session", Class: journal.Read, Layer: replay.LayerMemory, Digest: digest([]byte(r.root().ids.memory)),
		Work: w, Perform: func(ctx context.Context, _ string) (memory.SessionView, error) { return r.loadSession(ctx, w) },
	})
	var f *journal.Failure
	switch {
	case errors.As(err, &f):
		s.Record(engine.WarningAdded{Text: "the session state of the conversation could not be read: " + f.Message})
	case err != nil:
		return err
	case !view.Empty():
		s.Record(engine.SessionRead{Session: view})
	}
	return nil
}

// loadSession reads the parts of the session state that w names.
func (st *site) loadSession(ctx context.Context, w *sessionWork) (memory.SessionView, error) {
	ctx, cancel := boundStore(ctx, w.Timeout)
	defer cancel()
	found, err := st.session().Read(ctx)
	if !w.Notes {
		found.Notes = nil
	}
	if !w.Variables {
		found.Variables = nil
	}
	return found.View(), err
}

// storeError makes an error of the store suspend the session. If the store rejected the
// data a retry cannot help, so the error stays as it is.
func storeError(doing string, err error) error {
	if _, refused := errors.AsType[*memory.RefusedError](err); err == nil || refused {
		return err
	}
	return &kernel.Unavailable{Err: fmt.Errorf("%s: %w", doing, err)}
}

// recordedCode returns the stop code of a store's error found in a journal: earlier
// versions journaled such an error and ended the run.
func recordedCode(err error) stop.Code {
	f, _ := errors.AsType[*journal.Failure](err)
	if f != nil && (f.Code == string(stop.StoreFull) || f.Code == string(stop.StoreCorrupt)) {
		return stop.Code(f.Code)
	}
	return stop.Internal
}

// sessionError is an error of the store while a tool reads or writes session state. The
// call fails; the run continues with a warning.
type sessionError struct{ err error }

func (e *sessionError) Error() string { return e.err.Error() }
func (e *sessionError) Unwrap() error { return e.err }

func asSessionError(err error) error {
	if _, refused := errors.AsType[*memory.RefusedError](err); err == nil || refused {
		return err
	}
	return &sessionError{err}
}

// boundStore bounds the wait for a store shared with other processes by
// limits.max_duration; 0 = none.
func boundStore(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d > 0 {
		return context.WithTimeout(ctx, d)
	}
	return context.WithCancel(ctx)
}

// storeCode returns the stop code for an error of the store or the journal.
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

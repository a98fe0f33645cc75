package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// setSessionError derives the stop reason from an error that ended the session outside of
// node code.
func (r *run) setSessionError(err error) {
	var parked *kernel.Parked
	var review *kernel.NeedsReview
	var paused *kernel.Paused
	var large *component.TooLarge
	var unavailable *kernel.Unavailable
	drifted := errors.As(err, &r.mismatch)
	_, r.journalLost = errors.AsType[*kernel.StoreError](err)
	switch {
	case errors.As(err, &parked):
		r.addQuestions(parked.Questions)
		r.reason = r.waitingReason()
		return
	case errors.As(err, &review):
		r.setNeedsReview(review.Writes)
		return
	case errors.As(err, &paused):
		r.setPaused(paused)
		return
	case errors.Is(err, kernel.ErrSuspended), errors.Is(err, context.Canceled):
		r.reason = stop.Reason{Code: stop.Suspended, Status: stop.RunInterrupted, Message: "suspended by a signal"}
		return
	case errors.Is(err, kernel.ErrCancelled):
		r.reason = stop.Reason{Code: stop.Cancelled, Status: stop.RunCancelled, Message: "cancelled by decision"}
	case errors.As(err, &unavailable):
		r.reason = stop.Reason{Code: storeCode(unavailable.Err), Path: "memory", Status: stop.RunInterrupted, Message: err.Error()}
	case r.journalLost && !errors.Is(err, journal.ErrCorrupt):
		r.reason = stop.Reason{Code: storeCode(err), Status: stop.RunInterrupted, Message: err.Error()}
	case errors.Is(err, journal.ErrCorrupt):
		r.reason = stop.Reason{Code: stop.StoreCorrupt, Status: stop.RunFailed, Message: err.Error()}
	case drifted:
		r.reason = stop.Reason{Code: stop.Drift, Path: r.mismatch.Path, Status: stop.RunFailed, Message: r.mismatch.Error()}
	case errors.As(err, &large):
		err = large
		r.reason = stop.Reason{Code: stop.TooLarge, Status: stop.RunFailed, Message: err.Error()}
	default:
		r.reason = stop.Reason{Code: stop.Internal, Status: stop.RunFailed, Message: err.Error()}
	}
	r.errText = err.Error()
}

// setPaused sets the state of a run whose journal ends before the run does. Open
// questions can be answered even while other effects still have to be repeated.
func (r *run) setPaused(p *kernel.Paused) {
	r.reason = stop.Reason{Code: stop.Suspended, Status: stop.RunInterrupted, Message: "the run has not ended; resume it to continue"}
	r.addQuestions(p.Questions)
	if len(p.Questions) > 0 && p.Others == 0 {
		r.reason = r.waitingReason()
	}
	if len(p.Writes) > 0 {
		r.setNeedsReview(p.Writes)
	}
}

// waitingReason returns the stop reason of a run that waits for a human. Its path is the
// spec key of the first open question.
func (r *run) waitingReason() stop.Reason {
	reason := stop.Reason{Code: stop.Interrupted, Status: stop.RunInterrupted, Message: "waiting for an answer"}
	if len(r.openQuestions) > 0 {
		reason.Path = r.questionKey(r.openQuestions[0])
	}
	if n := len(r.refusals); n > 0 {
		reason.Message = "waiting for an answer that is permitted: " + r.refusals[n-1].Error()
	}
	return reason
}

// questionKey returns the spec key that a question comes from.
func (r *run) questionKey(q interrupt.Question) string {
	switch q.Kind {
	case interrupt.Approval:
		return "tools." + r.toolEntry(q.Tool) + ".approval"
	case interrupt.Plan:
		return "planner.approval"
	case interrupt.Guard:
		return r.guardPath(q)
	case interrupt.Human:
		id, _, _ := strings.Cut(q.Path, "/")
		id, _, _ = strings.Cut(id, ".") // later visits have the suffix .2, .3, ...
		if !r.program.Graph.Has(id) {
			return "graph"
		}
		return "graph.nodes." + id
	case interrupt.Review, interrupt.User, interrupt.Elicitation:
	}
	if q.Tool != "" {
		return "tools." + r.toolEntry(q.Tool)
	}
	return "tools"
}

// toolEntry returns the tools entry of a tool: its own, or that of its server.
func (r *run) toolEntry(one string) string {
	named := func(name string) bool {
		return slices.ContainsFunc(r.program.Tools, func(t tool.Spec) bool { return t.Name == name })
	}
	if server, _, _ := strings.Cut(one, "__"); !named(one) && named(server) {
		return server
	}
	return one
}

// guardPath returns the path of the guard that asked a question, or "guards" if it is
// unknown.
func (r *run) guardPath(q interrupt.Question) string {
	for i := range r.program.Guards {
		g := &r.program.Guards[i]
		if strings.HasSuffix(q.Path, "guard."+g.Name) {
			return g.Path()
		}
	}
	return "guards"
}

// addQuestions adds the open questions of the journal to the result.
func (r *run) addQuestions(questions []kernel.Open) {
	for _, o := range questions {
		q := interrupt.Question{}
		_ = json.Unmarshal(o.Request, &q) // written by this package
		q.Path = o.Path
		r.permissions.Describe(&q)
		r.openQuestions = append(r.openQuestions, q)
	}
}

// setNeedsReview sets the state of a run with writes whose outcome is unknown.
func (r *run) setNeedsReview(writes []kernel.Open) {
	r.reason = stop.Reason{
		Code: stop.NeedsReview, Status: stop.RunInterrupted, Path: writes[0].Path,
		Message: "the outcome of " + writes[0].Path + " is unknown",
	}
	for _, o := range writes {
		q := interrupt.Question{}
		_ = json.Unmarshal(o.Request, &q) // written by this package: tool and args
		q.Path, q.Kind = o.Path, interrupt.Review
		r.permissions.Describe(&q)
		q.Question = fmt.Sprintf("Did %s take effect before the run was interrupted?", q.Tool)
		if len(o.Why) > 0 {
			q.Question = fmt.Sprintf("Did %s take effect? %s", q.Tool, journal.DecodeFailure(o.Why).Message)
		}
		r.openQuestions = append(r.openQuestions, q)
	}
}

func (r *run) answerText() string {
	if r.state.Answer != nil {
		return r.state.Answer.Text
	}
	return ""
}

// fallbackAnswer returns the answer of a run stopped by a limit whose finalizer produced
// none.
func (r *run) fallbackAnswer() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Stopped early: %s.\n", r.reason.Message)
	for _, rec := range r.state.Steps {
		fmt.Fprintf(&b, "\n- %s (%s)", rec.Goal, rec.Status)
		if text := strings.TrimSpace(rec.Result); text != "" {
			fmt.Fprintf(&b, ": %s", tool.Excerpt(text, 2000))
		} else if rec.Error != "" {
			fmt.Fprintf(&b, ": %s", tool.Excerpt(rec.Error, 500))
		}
	}
	if left := r.state.Remaining(); len(left) > 0 {
		b.WriteString("\n\nRemaining steps:")
		for _, st := range left {
			b.WriteString("\n- " + st.Goal)
		}
	}
	if strings.HasPrefix(r.reason.Path, "limits.") {
		fmt.Fprintf(&b, "\n\nTo continue, raise %s.", r.reason.Path)
	}
	return b.String()
}

func (r *run) specInfo() *engine.SpecInfo {
	return &engine.SpecInfo{Name: r.program.Name, Version: r.program.Version, Digest: r.program.Digest}
}

// result returns the result of the run, in whatever state it ended.
func (r *run) result(began time.Time) *engine.Result {
	st := &r.state
	res := &engine.Result{
		RunID: r.input.RunID, Status: r.reason.Status, StopReason: r.reason, StartedAt: r.started,
		Response: r.answerText(), Plan: st.Plan, Steps: append(slices.Clone(st.Steps), st.Running...), Usage: st.Usage, Summary: summarize(st.Steps),
		MemoryID: r.ids.memory, ParentInteractionID: r.ids.interaction,
		ExecutorMemoryID: r.ids.executorMemory, ExecutorInteractionID: r.ids.executorInteraction,
		Interrupts: r.openQuestions, Decisions: r.decisions, Messages: st.UserMessages, Spec: *r.specInfo(), Labels: r.input.Labels, Warnings: st.Warnings, Error: r.errText, Conversation: st.Messages, FinalResponse: r.lastReplies.answer, FinalToolUses: finalToolUses(st.Steps),
		HasWritten: r.hasWritten, LostCharges: r.charges, Failure: r.modelErr, Resumable: r.journalLost,
	}
	if from := r.input.Origin; from != nil {
		res.EditedPrompts = slices.Sorted(maps.Keys(from.Prompts))
	}
	if r.mismatch != nil {
		res.ReplayMismatch = r.mismatch
	}
	if r.traced() {
		r.trace(Ended{r.reason})
	}
	res.Usage.ByModel = r.usageByLLM
	res.Summary.Replans = st.Replans
	if st.Answer != nil {
		res.Output = st.Answer.Output
	}
	if res.StartedAt.IsZero() {
		res.StartedAt = began
	}
	if res.DurationMS = engine.Milliseconds(r.elapsed); r.elapsed == 0 && !r.opts.Virtual {
		res.DurationMS = engine.Milliseconds(time.Since(began))
	}
	res.Steps = emptyNotNil(res.Steps)
	for i := range res.Steps {
		res.Steps[i].ToolCalls = emptyNotNil(res.Steps[i].ToolCalls)
	}
	res.Plan.Steps = emptyNotNil(res.Plan.Steps)
	res.Interrupts = emptyNotNil(res.Interrupts)
	res.Warnings = emptyNotNil(res.Warnings)
	return res
}

func emptyNotNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func summarize(steps []plan.StepRecord) engine.Summary {
	sum := engine.Summary{Steps: len(steps), ByStatus: map[plan.Status]int{}, Tools: []string{}}
	for _, rec := range steps {
		sum.ByStatus[rec.Status]++
		sum.Attempts += rec.Attempts
		for _, c := range rec.ToolCalls {
			if !slices.Contains(sum.Tools, c.Tool) {
				sum.Tools = append(sum.Tools, c.Tool)
			}
		}
	}
	slices.Sort(sum.Tools)
	if len(steps) > 0 {
		sum.SuccessRate = float64(sum.ByStatus[plan.OK]) / float64(len(steps))
	}
	return sum
}

package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// broken turns what ended the session from outside the node code into the
// stop reason.
func (r *run) broken(err error) {
	var parked *kernel.Parked
	var review *kernel.NeedsReview
	var paused *kernel.Paused
	var large *component.TooLarge
	var unavailable *kernel.Unavailable
	drifted := errors.As(err, &r.missed)
	_, r.unkept = errors.AsType[*kernel.StoreError](err)
	switch {
	case errors.As(err, &parked):
		r.ask(parked.Questions)
		r.reason = r.waiting()
		return
	case errors.As(err, &review):
		r.doubtful(review.Writes)
		return
	case errors.As(err, &paused):
		r.paused(paused)
		return
	case errors.Is(err, kernel.ErrSuspended), errors.Is(err, context.Canceled):
		r.reason = StopReason{Code: StopSuspended, Status: Interrupted, Message: "suspended by a signal"}
		return
	case errors.Is(err, kernel.ErrCancelled):
		r.reason = StopReason{Code: StopCancelled, Status: Cancelled, Message: "cancelled by decision"}
	case errors.As(err, &unavailable):
		r.reason = StopReason{Code: storeCode(unavailable.Err), Path: "memory", Status: Interrupted, Message: err.Error()}
	case r.unkept && !errors.Is(err, journal.ErrCorrupt):
		r.reason = StopReason{Code: storeCode(err), Status: Interrupted, Message: err.Error()}
	case errors.Is(err, journal.ErrCorrupt):
		r.reason = StopReason{Code: StopStoreCorrupt, Status: Failed, Message: err.Error()}
	case drifted:
		r.reason = StopReason{Code: StopDrift, Path: r.missed.Path, Status: Failed, Message: r.missed.Error()}
	case errors.As(err, &large):
		err = large
		r.reason = StopReason{Code: StopTooLarge, Status: Failed, Message: err.Error()}
	default:
		r.reason = StopReason{Code: StopInternal, Status: Failed, Message: err.Error()}
	}
	r.err = err.Error()
}

// paused is a run whose journal ends before it does. What is open there may be
// answered, also while other effects wait to be performed again.
func (r *run) paused(p *kernel.Paused) {
	r.reason = StopReason{Code: StopSuspended, Status: Interrupted, Message: "it has not ended and goes on when it is resumed"}
	r.ask(p.Questions)
	if len(p.Questions) > 0 && p.Others == 0 {
		r.reason = r.waiting()
	}
	if len(p.Writes) > 0 {
		r.doubtful(p.Writes)
	}
}

// waiting is the stop reason of a run that only people can continue; its path is
// the key that asks the first open question.
func (r *run) waiting() StopReason {
	reason := StopReason{Code: StopInterrupted, Status: Interrupted, Message: "waiting for a person"}
	if len(r.open) > 0 {
		reason.Path = r.asks(r.open[0])
	}
	return reason
}

// asks is the key of the spec that asks a question.
func (r *run) asks(q Question) string {
	switch q.Kind {
	case AskApproval:
		return "tools." + r.entry(q.Tool) + ".approval"
	case AskPlan:
		return "planner.approval"
	case AskGuard:
		return r.guardOf(q)
	case AskHuman:
		id, _, _ := strings.Cut(q.Path, "/")
		id, _, _ = strings.Cut(id, ".") // a later visit is id.2
		if r.program.TypeOf(id) == "" {
			return "graph"
		}
		return "graph.nodes." + id
	case AskReview, AskUser, AskElicitation:
	}
	if q.Tool != "" {
		return "tools." + r.entry(q.Tool)
	}
	return "tools"
}

// entry is the entry of tools that a tool belongs to: a server's, for one of its tools.
func (r *run) entry(tool string) string {
	named := func(name string) bool {
		return slices.ContainsFunc(r.program.Tools, func(t ToolSpec) bool { return t.Name == name })
	}
	if server, _, _ := strings.Cut(tool, "__"); !named(tool) && named(server) {
		return server
	}
	return tool
}

// guardOf is the path of the guard that asks a question, or that of all guards.
func (r *run) guardOf(q Question) string {
	for i := range r.program.Guards {
		g := &r.program.Guards[i]
		if strings.HasSuffix(q.Path, "guard."+g.Name) {
			return g.path()
		}
	}
	return "guards"
}

// ask notes the questions that are open.
func (r *run) ask(questions []kernel.Open) {
	for _, o := range questions {
		q := Question{}
		_ = json.Unmarshal(o.Request, &q) // the run wrote it
		q.Path = o.Path
		r.open = append(r.open, q)
	}
}

// doubtful is a run with writes of which nobody knows whether they took effect.
func (r *run) doubtful(writes []kernel.Open) {
	r.reason = StopReason{
		Code: StopNeedsReview, Status: Interrupted, Path: writes[0].Path,
		Message: "it is not known whether " + writes[0].Path + " took effect",
	}
	for _, o := range writes {
		q := Question{}
		_ = json.Unmarshal(o.Request, &q) // the run wrote it: tool and args
		q.Path, q.Kind = o.Path, AskReview
		q.Question = fmt.Sprintf("Did %s take effect before the run was cut?", q.Tool)
		if len(o.Why) > 0 {
			q.Question = fmt.Sprintf("Did %s take effect? %s", q.Tool, journal.DecodeFailure(o.Why).Message)
		}
		r.open = append(r.open, q)
	}
}

func (r *run) answerText() string {
	if r.state.Answer != nil {
		return r.state.Answer.Text
	}
	return ""
}

// fallback is the answer of a run at its limit whose finalizer could not write one.
func (r *run) fallback() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Stopped before the end: %s.\n", r.reason.Message)
	for _, rec := range r.state.Steps {
		fmt.Fprintf(&b, "\n- %s (%s)", rec.Goal, rec.Status)
		if text := strings.TrimSpace(rec.Result); text != "" {
			fmt.Fprintf(&b, ": %s", clip(text, 2000))
		} else if rec.Error != "" {
			fmt.Fprintf(&b, ": %s", clip(rec.Error, 500))
		}
	}
	if left := r.state.Remaining(); len(left) > 0 {
		b.WriteString("\n\nNot done yet:")
		for _, st := range left {
			b.WriteString("\n- " + st.Goal)
		}
	}
	if strings.HasPrefix(r.reason.Path, "limits.") {
		fmt.Fprintf(&b, "\n\nTo go on, raise %s.", r.reason.Path)
	}
	return b.String()
}

func (r *run) specInfo() *SpecInfo {
	return &SpecInfo{Name: r.program.Name, Version: r.program.Version, Digest: r.program.Digest}
}

// result is what the run has to show, wherever it ended.
func (r *run) result(began time.Time) *Result {
	st := &r.state
	res := &Result{
		RunID: r.input.RunID, Status: r.reason.Status, StopReason: r.reason, StartedAt: r.started,
		Response: r.answerText(), Plan: st.Plan, Steps: append(slices.Clone(st.Steps), st.Running...), Usage: st.Usage, Summary: summarize(st.Steps),
		MemoryID: r.ids.memory, ParentInteractionID: r.ids.interaction,
		ExecutorMemoryID: r.ids.executorMemory, ExecutorInteractionID: r.ids.executorInteraction,
		Interrupts: r.open, Decisions: r.decisions, Spec: *r.specInfo(), Warnings: st.Warnings, Error: r.err, Conversation: st.Messages, FinalResponse: r.spoken.answer, FinalToolUses: finalToolUses(st.Steps),
		Wrote: r.wrote, Lost: r.charges, Failure: r.unanswered, Resumes: r.unkept,
	}
	if r.missed != nil {
		res.Miss = r.missed
	}
	if r.traced() {
		r.trace(Ended{r.reason})
	}
	res.Usage.ByModel = r.spent
	res.Summary.Replans = st.Replans
	if st.Answer != nil {
		res.Output = st.Answer.Output
	}
	if res.StartedAt.IsZero() {
		res.StartedAt = began
	}
	if res.DurationMS = milliseconds(r.elapsed); r.elapsed == 0 && !r.opts.Virtual {
		res.DurationMS = milliseconds(time.Since(began))
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

func summarize(steps []StepRecord) Summary {
	sum := Summary{Steps: len(steps), ByStatus: map[StepStatus]int{}, Tools: []string{}}
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
		sum.SuccessRate = float64(sum.ByStatus[StepOK]) / float64(len(steps))
	}
	return sum
}

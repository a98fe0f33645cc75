package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
		r.reason = stop.Reason{Code: stop.Suspended, Status: stop.RunInterrupted, Message: "suspended by a signal"}
		return
	case errors.Is(err, kernel.ErrCancelled):
		r.reason = stop.Reason{Code: stop.Cancelled, Status: stop.RunCancelled, Message: "cancelled by decision"}
	case errors.As(err, &unavailable):
		r.reason = stop.Reason{Code: storeCode(unavailable.Err), Path: "memory", Status: stop.RunInterrupted, Message: err.Error()}
	case r.unkept && !errors.Is(err, journal.ErrCorrupt):
		r.reason = stop.Reason{Code: storeCode(err), Status: stop.RunInterrupted, Message: err.Error()}
	case errors.Is(err, journal.ErrCorrupt):
		r.reason = stop.Reason{Code: stop.StoreCorrupt, Status: stop.RunFailed, Message: err.Error()}
	case drifted:
		r.reason = stop.Reason{Code: stop.Drift, Path: r.missed.Path, Status: stop.RunFailed, Message: r.missed.Error()}
	case errors.As(err, &large):
		err = large
		r.reason = stop.Reason{Code: stop.TooLarge, Status: stop.RunFailed, Message: err.Error()}
	default:
		r.reason = stop.Reason{Code: stop.Internal, Status: stop.RunFailed, Message: err.Error()}
	}
	r.err = err.Error()
}

// paused is a run whose journal ends before it does. What is open there may be
// answered, also while other effects wait to be performed again.
func (r *run) paused(p *kernel.Paused) {
	r.reason = stop.Reason{Code: stop.Suspended, Status: stop.RunInterrupted, Message: "it has not ended and goes on when it is resumed"}
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
func (r *run) waiting() stop.Reason {
	reason := stop.Reason{Code: stop.Interrupted, Status: stop.RunInterrupted, Message: "waiting for a person"}
	if len(r.open) > 0 {
		reason.Path = r.asks(r.open[0])
	}
	return reason
}

// asks is the key of the spec that asks a question.
func (r *run) asks(q interrupt.Question) string {
	switch q.Kind {
	case interrupt.Approval:
		return "tools." + r.entry(q.Tool) + ".approval"
	case interrupt.Plan:
		return "planner.approval"
	case interrupt.Guard:
		return r.guardOf(q)
	case interrupt.Human:
		id, _, _ := strings.Cut(q.Path, "/")
		id, _, _ = strings.Cut(id, ".") // a later visit is id.2
		if !r.program.Graph.Has(id) {
			return "graph"
		}
		return "graph.nodes." + id
	case interrupt.Review, interrupt.User, interrupt.Elicitation:
	}
	if q.Tool != "" {
		return "tools." + r.entry(q.Tool)
	}
	return "tools"
}

// entry is the entry of tools that a tool belongs to: a server's, for one of its tools.
func (r *run) entry(one string) string {
	named := func(name string) bool {
		return slices.ContainsFunc(r.program.Tools, func(t tool.Spec) bool { return t.Name == name })
	}
	if server, _, _ := strings.Cut(one, "__"); !named(one) && named(server) {
		return server
	}
	return one
}

// guardOf is the path of the guard that asks a question, or that of all guards.
func (r *run) guardOf(q interrupt.Question) string {
	for i := range r.program.Guards {
		g := &r.program.Guards[i]
		if strings.HasSuffix(q.Path, "guard."+g.Name) {
			return g.Path()
		}
	}
	return "guards"
}

// ask notes the questions that are open.
func (r *run) ask(questions []kernel.Open) {
	for _, o := range questions {
		q := interrupt.Question{}
		_ = json.Unmarshal(o.Request, &q) // the run wrote it
		q.Path = o.Path
		r.open = append(r.open, q)
	}
}

// doubtful is a run with writes of which nobody knows whether they took effect.
func (r *run) doubtful(writes []kernel.Open) {
	r.reason = stop.Reason{
		Code: stop.NeedsReview, Status: stop.RunInterrupted, Path: writes[0].Path,
		Message: "it is not known whether " + writes[0].Path + " took effect",
	}
	for _, o := range writes {
		q := interrupt.Question{}
		_ = json.Unmarshal(o.Request, &q) // the run wrote it: tool and args
		q.Path, q.Kind = o.Path, interrupt.Review
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
			fmt.Fprintf(&b, ": %s", tool.Excerpt(text, 2000))
		} else if rec.Error != "" {
			fmt.Fprintf(&b, ": %s", tool.Excerpt(rec.Error, 500))
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

func (r *run) specInfo() *engine.SpecInfo {
	return &engine.SpecInfo{Name: r.program.Name, Version: r.program.Version, Digest: r.program.Digest}
}

// result is what the run has to show, wherever it ended.
func (r *run) result(began time.Time) *engine.Result {
	st := &r.state
	res := &engine.Result{
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

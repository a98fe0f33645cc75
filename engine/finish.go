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
		r.reason = waiting
		r.ask(parked.Questions)
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
		r.reason = waiting
	}
	if len(p.Writes) > 0 {
		r.doubtful(p.Writes)
	}
}

// waiting is the stop reason of a run in which only people can go on.
var waiting = StopReason{Code: StopInterrupted, Status: Interrupted, Message: "waiting for a person"}

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
		Interrupts: r.open, Spec: *r.specInfo(), Warnings: st.Warnings, Error: r.err, Conversation: st.Messages, FinalResponse: r.spoken.answer, FinalToolUses: finalToolUses(st.Steps),
		Wrote: r.wrote, Lost: r.charges, Miss: r.missed, Failure: r.unanswered, Resumes: r.unkept,
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

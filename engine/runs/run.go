package runs

import (
	"context"
	"slices"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
)

// Run is a run as its journal has it.
type Run struct {
	Records []journal.Record
	Start   engine.Start
	Program *engine.Program
	Host    engine.Host // as a session would have it; nothing of it is open
	Running bool        // a process executes it
	PID     int         // of that process; 0 = unknown

	version string
	final   *finalSummary // nil = the last session noted no end
}

// Ended says whether the run has its last record.
func (r *Run) Ended() bool { return ended(r.Records) }

func ended(recs []journal.Record) bool {
	recs = journal.WithoutVoided(recs)
	return len(recs) > 0 && recs[len(recs)-1].Kind == journal.End
}

// Result replays the journal; nothing is performed or appended.
func (r *Run) Result(ctx context.Context) *engine.Result {
	return r.activeTime(r.replay(ctx, runtime.Options{Conversation: true}))
}

// Show is Result, with the status that people see: a run that a process executes
// is running, and what it is doing asks for no review.
func (r *Run) Show(ctx context.Context) *engine.Result { return r.shown(r.Result(ctx)) }

// Trace is Show, and tells t which edges the run took.
func (r *Run) Trace(ctx context.Context, t runtime.Tracer) *engine.Result {
	return r.shown(r.activeTime(r.replay(ctx, runtime.Options{Tracer: t})))
}

// Watch is Trace that also sends the events of the run to sinks, from its start.
func (r *Run) Watch(ctx context.Context, t runtime.Tracer, sinks ...engine.Sink) *engine.Result {
	return r.shown(r.activeTime(r.replay(ctx, runtime.Options{Tracer: t, Conversation: true}, sinks...)))
}

func (r *Run) shown(res *engine.Result) *engine.Result {
	if r.Running {
		res.Status, res.StopReason = Running, stop.Reason{}
		res.Interrupts = slices.DeleteFunc(res.Interrupts, func(q interrupt.Question) bool { return q.Kind == interrupt.Review })
	}
	return res
}

// replay is the run as its journal has it; sinks hear all of it.
func (r *Run) replay(ctx context.Context, o runtime.Options, sinks ...engine.Sink) *engine.Result {
	host := r.Host
	host.Sinks = sinks
	o.Journal, o.Version = journal.Frozen(r.Records), r.version
	if o.Follow == nil {
		o.Follow = &runtime.Tail{}
	}
	return r.asNoted(runtime.Run(ctx, r.Program, r.Start.Input, host, o))
}

// activeTime corrects the duration of a run that has not ended: what counts is
// how long it was worked on, not how long the replay took.
func (r *Run) activeTime(res *engine.Result) *engine.Result {
	if n := len(r.Records); n > 0 && !r.Ended() {
		res.DurationMS = time.Duration(r.Records[n-1].At).Milliseconds()
	}
	return res
}

// finalSummary is the state of a run by its head.
type finalSummary struct {
	Summary
	seq uint64 // of the last record then
}

// finalSummary reads the head of a run; nil = it has none, or of an earlier session.
func (s *Service) finalSummary(run string) *finalSummary {
	head, err := s.home.Head(run)
	if err != nil {
		return nil
	}
	if noted, ok := fromHead(run, head); ok {
		return &finalSummary{noted, head.Seq}
	}
	return nil
}

// asNoted gives a run that has ended the end that was noted when it did. This
// version may judge the same journal by other rules, or be unable to follow it
// to its end: a warning says so.
func (r *Run) asNoted(res *engine.Result) *engine.Result {
	n := r.final
	if n == nil || !r.Ended() || r.Records[len(r.Records)-1].Seq != n.seq || res.StopReason.Code == n.StopReason.Code {
		return res
	}
	why := string(res.Status) + " (" + string(res.StopReason.Code) + ")"
	if res.StopReason.Message != "" {
		why += ": " + res.StopReason.Message
	}
	res.Warnings = append(res.Warnings, "the run ended as shown, in another version of pexctl; by the rules of this one, which may not find all its steps and its answer, it would end "+why)
	res.Status, res.StopReason = n.Status, n.StopReason
	res.StopReason.Status = res.Status
	if res.Error = ""; res.Status == stop.RunFailed || res.Status == stop.RunCancelled {
		res.Error = res.StopReason.Message
	}
	return res
}

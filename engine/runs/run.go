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

// Run is a run restored from its journal.
type Run struct {
	Records []journal.Record
	Start   engine.Start
	Program *engine.Program
	Host    engine.Host // the host that a session would use; nothing in it is open
	Running bool        // a process executes it
	PID     int         // of that process; 0 = unknown
	version string
	final   *finalSummary // summary stored at the end of the run; nil = none
}

// Ended reports whether the journal has an end record.
func (r *Run) Ended() bool { return ended(r.Records) }

// Limits returns the limits of the run, with the changes of its sessions.
func (r *Run) Limits() engine.Limits { return runtime.LimitsNow(r.Program, r.Records) }

func ended(recs []journal.Record) bool {
	recs = journal.WithoutVoided(recs)
	return len(recs) > 0 && recs[len(recs)-1].Kind == journal.End
}

// Result replays the journal without performing or appending anything.
func (r *Run) Result(ctx context.Context) *engine.Result {
	return r.activeTime(r.replay(ctx, runtime.Options{Conversation: true}))
}

// Show returns the Result for display: a run that a process executes has status running,
// and its open writes need no review.
func (r *Run) Show(ctx context.Context) *engine.Result { return r.forDisplay(r.Result(ctx)) }

// Trace is Show, and reports the path of the run to t.
func (r *Run) Trace(ctx context.Context, t runtime.Tracer) *engine.Result {
	return r.forDisplay(r.activeTime(r.replay(ctx, runtime.Options{Tracer: t})))
}

// Watch is Trace, and sends all events of the run to sinks.
func (r *Run) Watch(ctx context.Context, t runtime.Tracer, sinks ...engine.Sink) *engine.Result {
	return r.forDisplay(r.activeTime(r.replay(ctx, runtime.Options{Tracer: t, Conversation: true}, sinks...)))
}

func (r *Run) forDisplay(res *engine.Result) *engine.Result {
	if r.Running {
		res.Status, res.StopReason = Running, stop.Reason{}
		res.Interrupts = slices.DeleteFunc(res.Interrupts, func(q interrupt.Question) bool { return q.Kind == interrupt.Review })
	}
	return res
}

// replay returns the result of replaying the journal. Sinks receive all events.
func (r *Run) replay(ctx context.Context, o runtime.Options, sinks ...engine.Sink) *engine.Result {
	host := r.Host
	host.Sinks = sinks
	o.Journal, o.Version = journal.Frozen(r.Records), r.version
	if o.Follow == nil {
		o.Follow = &runtime.Tail{}
	}
	return r.withFinalStatus(runtime.Run(ctx, r.Program, r.Start.Input, host, o))
}

// activeTime sets the duration of a run that has not ended to its active time instead of
// the duration of the replay.
func (r *Run) activeTime(res *engine.Result) *engine.Result {
	if n := len(r.Records); n > 0 && !r.Ended() {
		res.DurationMS = time.Duration(r.Records[n-1].At).Milliseconds()
	}
	return res
}

// finalSummary is the state of a run as stored in its head.
type finalSummary struct {
	Summary
	seq uint64 // of the last record at that time
}

// finalSummary reads the head of a run. It returns nil if there is none, or it is out of
// date.
func (s *Service) finalSummary(run string) *finalSummary {
	head, err := s.home.Head(run)
	if err != nil {
		return nil
	}
	if noted, ok := fromHead(run, &head); ok {
		return &finalSummary{noted, head.Seq}
	}
	return nil
}

// withFinalStatus sets the status and stop reason that were stored when the run ended.
// This version may derive others from the same journal, or be unable to replay all of it;
// then it adds a warning.
func (r *Run) withFinalStatus(res *engine.Result) *engine.Result {
	n := r.final
	if n == nil || !r.Ended() || r.Records[len(r.Records)-1].Seq != n.seq || res.StopReason.Code == n.StopReason.Code {
		return res
	}
	why := string(res.Status) + " (" + string(res.StopReason.Code) + ")"
	if res.StopReason.Message != "" {
		why += ": " + res.StopReason.Message
	}
	res.Warnings = append(res.Warnings, "the run ended as shown in another version of pexctl; this version, which may not recover all its steps and its answer, would end it as "+why)
	res.Status, res.StopReason = n.Status, n.StopReason
	res.StopReason.Status = res.Status
	if res.Error = ""; res.Status == stop.RunFailed || res.Status == stop.RunCancelled {
		res.Error = res.StopReason.Message
	}
	return res
}

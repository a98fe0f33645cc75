package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/modelrecord"
	"github.com/pexctl/pex/engine/runtime/permission"
	"github.com/pexctl/pex/engine/runtime/replay"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/engine/tracecontext"
)

// Run runs a program until it ends or must wait. It always returns a Result. If the
// journal holds records, the run is replayed from its start and continues where they end.
// Run is safe for concurrent use.
func Run(ctx context.Context, p *engine.Program, in engine.Input, h engine.Host, o Options) *engine.Result {
	if o.Journal == nil {
		o.Journal = journal.Discard{}
	}
	r := newRun(p, h, in, o)
	began := time.Now()
	stats, err := kernel.Run(model.WithRetries(ctx, r.retries), r.options(), func(k *kernel.Scope, start []byte) error {
		return r.main(&scope{k: k, r: r}, start)
	})
	if r.opts.Follow != nil {
		r.opts.Follow.Rewound = errors.Is(err, kernel.ErrRewound)
	}
	if err != nil {
		r.setSessionError(err)
		r.elapsed = stats.Active
		r.emitSuspended()
	}
	r.closingHosts.Wait()
	res := r.result(began)
	res.Limit = stats.Limit
	return res
}

// run is one run of one program. A nested agent's run shares its parent's budget, journal
// and events. It needs no lock: only the run's own coroutines access it, one at a time.
type run struct {
	site            // performs the effects if no other process does; concurrently with the run
	program         *engine.Program
	input           engine.Input
	opts            Options
	state           engine.State
	infos           []tool.Info
	calls           map[callKey]int
	counts          map[string]int
	budget          *budget
	stopping        *stop.Error
	callsInFlight   int                  // tool calls started but not finished
	delegatedCalls  int                  // callsInFlight that nested agents handle
	inFlight        []*engine.ToolCalled // calls not finished yet, oldest first, for run.calls
	breakers        map[string]*toolBreaker
	hasWritten      bool
	uncertainKeys   uncertainKeys // of the root run
	mismatch        *replay.Mismatch
	modelErr        *model.Error    // error that ended the run
	failedLLMPath   string          // spec path of the LLM whose call failed last
	journalLost     bool            // the journal could not be appended to
	grantingVectors bool            // of the root run: a tool call with a granted embedding budget is in flight
	versionWarned   bool            // the warning about another version's prompts was given
	warned          map[string]bool // of the root run: see warnOnce
	finalizing      bool            // the finalizer runs: effects are allowed, the reserve is released
	walkScope       *kernel.Scope
	reason          stop.Reason
	errText         string
	openQuestions   []interrupt.Question
	decisions       []engine.DecisionRecord // of the root run
	permissions     *permission.Set         // of the root run
	refusals        []error                 // of the root run: why decisions of this session were not permitted
	emit            *emitter
	spans           *tracecontext.Run // of the root run: what calls carry of its trace; nil = nothing
	started         time.Time
	elapsed         time.Duration
	startedActive   time.Duration // active time when a nested run started; 0 for others
	ids             identity
	usageByLLM      map[string]engine.ModelUsage
	lastReplies     lastReplies
	charges         charges           // shared by the tree of runs
	segments        *journal.Segments // segments of the journal's requests; likewise
	defs            modelrecord.Tools
	parent          *run // run that started this one, or nil
	depth           int
	top             *scope               // of the root run; nil = it has not begun
	arrived         []engine.UserMessage // messages received before it began
	closingHosts    sync.WaitGroup       // of the root run: closing hosts of nested agents
	agent           string               // path of a nested run, or ""
}

type callKey struct{ role, step string }

type boundModel struct {
	spec        *engine.ModelSpec
	model       model.Model
	chosen      model.Model // model of the current call; nil = not chosen yet
	hasFallback bool        // another LLM is left to try
}

// identity holds the conversation ids of a result.
type identity struct {
	memory, parent, interaction, executorMemory, executorInteraction string
}

func newRun(p *engine.Program, h engine.Host, in engine.Input, o Options) *run {
	r := &run{
		program: p, input: in, opts: o,
		calls: map[callKey]int{}, counts: map[string]int{}, usageByLLM: map[string]engine.ModelUsage{}, segments: &journal.Segments{},
		permissions: &permission.Set{}, charges: charges{},
	}
	r.site = newSite(p, h, &r.input)
	r.retries = &model.Retries{}
	r.infos = make([]tool.Info, 0, len(h.Tools))
	for _, t := range h.Tools {
		if _, ok := t.Tool.(tool.Toolset); !ok { // see connectTools
			r.register(BoundTool{Binding: t})
		}
	}
	r.budget = newBudget(p.Limits)
	r.emit = &emitter{sinks: h.Sinks, run: in.RunID}
	r.state = engine.State{Parameters: in.Parameters}
	r.state.Question, _ = in.Parameters["question"].(string)
	return r
}

func (r *run) options() kernel.Options {
	ko := kernel.Options{
		RunID: r.input.RunID, Start: StartOf(r.program, r.input), Journal: r.opts.Journal, Virtual: r.opts.Virtual,
		Answers: r.opts.Answers, Resolve: encodeResolutions(r.opts.Resolve), Cancel: r.opts.Cancel,
		WallClock: r.opts.WallClock, Grace: r.opts.Grace, OnChange: r.applyChange,
		By: journaledActor(r.opts.By.Identity()), Permit: r.permitDecision, OnDecision: r.recordDecision, Decided: r.opts.Decided, Workers: r.opts.Workers,
		World: r.opts.World, Inbox: r.opts.Inbox, OnMessage: r.receiveMessage,
	}
	if by := r.opts.CancelledBy; by != nil {
		ko.CancelledBy = func() json.RawMessage { return journaledActor(by().Identity()) }
	}
	if r.opts.Extension != nil {
		ko.ChangeBody = r.changeRecord
	}
	if r.opts.Recorded != nil {
		ko.Recorded = recordedDecisions{r.opts.Recorded, r}
	}
	if f := r.opts.Follow; f != nil {
		ko.Follow = f.next
	}
	ko.EmitOnReplay = r.emit.enabled() && (r.opts.Follow != nil || r.emit.wantsReplay())
	if r.host.Responder != nil {
		_, ko.AskAll = r.host.Responder.(engine.SharedResponder)
		ko.Ask = func(ctx context.Context, path string, request []byte) (kernel.Given, error) {
			q := interrupt.Question{Path: path}
			if err := json.Unmarshal(request, &q); err != nil {
				return kernel.Given{}, fmt.Errorf("question %s: %w", path, err)
			}
			q.Path = path
			return r.askResponder(ctx, q)
		}
	}
	return ko
}

// askResponder asks a question during the session.
func (r *run) askResponder(ctx context.Context, q interrupt.Question) (kernel.Given, error) {
	people := r.host.Responder
	r.permissions.Describe(&q)
	if shared, ok := people.(engine.SharedResponder); ok {
		answer, by, err := shared.AskShared(ctx, q)
		return kernel.Given{Body: answer, By: journaledActor(by)}, err
	}
	if permits := q.Permits; permits != nil {
		q.Permits = func(by engine.Actor, do string) error {
			if by.IsZero() {
				by = r.opts.By
			}
			return permits(by, do)
		}
	}
	answer, err := people.Ask(ctx, q)
	return kernel.Given{Body: answer, By: journaledActor(r.opts.By)}, err
}

// main performs the whole run as plain code over effects.
func (r *run) main(s *scope, start []byte) error {
	if err := r.begin(s, start); err != nil {
		return err
	}
	err := r.readHistory(s)
	if err == nil {
		err = s.withinDuration(r.connectAndWalk)
	}
	if err = r.finish(s, err); err != nil {
		return err
	}
	if err := r.storeConversation(s); err != nil {
		return err
	}
	r.elapsed = s.k.Now()
	r.announceEnd(s)
	r.segments = nil // free memory: the last commit may take a while
	return nil
}

// begin reads the input of the run from its start record and emits the first event.
func (r *run) begin(s *scope, start []byte) error {
	b, err := decodeStart(start)
	if err != nil {
		return err
	}
	if b.Digest != r.program.Digest {
		return &kernel.Drift{Class: "program", Message: "the journal was written by program " + b.Digest + ", this is " + r.program.Digest}
	}
	r.input = b.Input
	r.parameters = b.Input.Parameters
	r.state.Parameters = b.Input.Parameters
	r.state.Question, _ = b.Input.Parameters["question"].(string)
	r.spans = outgoingTrace(&r.input, r.host.Sinks)
	r.permissions.Start(&r.input)
	r.started = s.k.Start().UTC()
	r.setConversationIDs()
	s.event(engine.Event{Type: engine.RunStarted, Spec: r.specInfo(), Question: r.state.Question})
	r.top = s
	for _, m := range r.arrived {
		s.Record(engine.MessageReceived{Message: m})
	}
	r.arrived = nil
	return nil
}

// announceEnd emits the last event of the run.
func (r *run) announceEnd(s *scope) {
	totals := r.state.Usage
	totals.ByModel = maps.Clone(r.usageByLLM)
	s.event(engine.Event{
		Type: engine.RunCompleted, Status: string(r.reason.Status), Stop: &r.reason,
		Text: r.answerText(), Duration: engine.Milliseconds(s.k.Now()), Totals: &totals,
	})
}

// connectAndWalk connects the tools, then walks the graph.
func (r *run) connectAndWalk(s *scope) error {
	if err := r.connectTools(s); err != nil {
		return err
	}
	return r.walkGraph(s)
}

// finish derives the stop reason from how the walk ended. If a limit or guard ended it,
// the finalizer writes the answer.
func (r *run) finish(s *scope, err error) error {
	var end *stop.Error
	switch {
	case err == nil:
		r.reason = stop.Reason{Code: stop.Answered, Status: stop.RunCompleted}
		return nil
	case errors.As(err, &end):
		r.reason, r.modelErr = end.Reason, end.Cause
	case errors.Is(err, kernel.ErrTimeout):
		r.reason = stop.Reason{
			Code: stop.Deadline, Path: "limits.max_duration", Status: stop.RunStopped,
			Message: fmt.Sprintf("the run took longer than %s", r.program.Limits.MaxDuration),
		}
	case errors.Is(err, kernel.ErrCancelled):
		r.reason = stop.Reason{Code: stop.Cancelled, Status: stop.RunCancelled, Message: "cancelled by decision"}
	default:
		if m := model.AsError(err); m != nil {
			r.reason = stop.Reason{Code: stop.ProviderError, Status: stop.RunFailed, Path: r.failedLLMPath, Message: err.Error()}
			r.modelErr = m
			break
		}
		return err
	}
	if r.reason.Status == stop.RunFailed || r.reason.Status == stop.RunCancelled {
		r.errText = r.reason.Message
		return nil
	}
	if r.reason.Code != stop.Guard {
		s.event(engine.Event{Type: engine.LimitReached, Stop: &r.reason})
	}
	return r.finalize(s)
}

// runFinalizer runs the finalizer within what is left of max_duration. Nothing may be
// left, since writes in flight are not interrupted. Journals of version 0.1.0 have no
// timer here, or one that started when the time was up.
func (r *run) runFinalizer(s *scope, finalizer engine.Node) error {
	const timer = "closing/timer"
	if r.program.Limits.MaxDuration <= 0 || s.k.Replaying() && !s.k.Next(timer) && s.k.Omits("closing") {
		return finalizer.Run(s)
	}
	left := r.program.Limits.MaxDuration - (s.k.Now() - r.startedActive)
	if left <= 0 && !s.k.Next(timer) {
		return kernel.ErrTimeout
	}
	return s.Timeout("closing", max(left, 1), finalizer.Run)
}

// finalize runs the finalizer. If that fails, the answer is assembled from the results of
// the steps.
func (r *run) finalize(s *scope) error {
	r.finalizing = true
	r.budget.releaseReserve()
	if r.state.Answer != nil {
		return nil
	}
	if id, _ := engine.NodeWith[engine.Finalizer](r.program); id != "" && len(r.program.Models) > 0 {
		err := r.runFinalizer(s, r.program.Nodes[id])
		var stop *stop.Error
		if err != nil && !errors.As(err, &stop) && model.AsError(err) == nil && !engine.TimedOut(err) {
			return err
		}
		if err != nil {
			s.Record(engine.WarningAdded{Text: "the finalizer returned no answer: " + err.Error(), Repair: engine.AnswerMissing})
		}
	}
	if r.state.Answer == nil {
		s.Record(engine.Answered{Answer: engine.Answer{Text: r.fallbackAnswer()}})
	}
	return nil
}

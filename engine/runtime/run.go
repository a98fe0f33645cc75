package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/modelrecord"
	"github.com/pexctl/pex/engine/runtime/replay"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// Run runs a program to its end, or to where it must wait. It returns a Result
// in every case; a journal that holds records is run again from its start and
// goes on where it ends. Run may be called many times at once.
func Run(ctx context.Context, p *engine.Program, in engine.Input, h engine.Host, o Options) *engine.Result {
	if o.Journal == nil {
		o.Journal = journal.Discard{}
	}
	r := newRun(p, h, in, o)
	began := time.Now()
	stats, err := kernel.Run(ctx, r.options(), func(k *kernel.Scope, start []byte) error {
		return r.main(&scope{k: k, r: r}, start)
	})
	if err != nil {
		r.broken(err)
		r.elapsed = stats.Active
		r.suspended()
	}
	r.leaving.Wait()
	res := r.result(began)
	res.Limit = stats.Limit
	return res
}

// run is one run of one program; a nested agent's run shares its parent's
// budget, journal and events. Only the run's own coroutines touch it, one at
// a time, so it needs no lock.
type run struct {
	program    *engine.Program
	host       engine.Host
	input      engine.Input
	opts       Options
	state      engine.State
	models     map[string]boundModel
	tools      map[string]*BoundTool
	infos      []tool.Info
	calls      map[callKey]int
	counts     map[string]int
	consumed   *budget
	stopping   *stop.Error
	underway   int                  // tool calls begun and not ended,
	delegated  int                  // and those that agents answer
	inFlight   []*engine.ToolCalled // calls that have not ended, oldest first, for run.calls
	breakers   map[string]*toolBreaker
	wrote      bool
	uncertain  uncertain // of the root
	missed     *replay.Mismatch
	unanswered *model.Error    // what ended it
	failed     string          // where the spec defines the llm of the last call that failed
	unkept     bool            // the journal could not be appended to
	granted    bool            // of the root: a call has vectors made that it was granted
	outdated   bool            // another version's prompts were met
	warned     map[string]bool // of the root: see warnOnce
	closing    bool            // the finalizer runs: effects are allowed, the reserve is open
	walk       *kernel.Scope
	reason     stop.Reason
	err        string
	open       []interrupt.Question
	decisions  []engine.DecisionRecord // of the root
	emit       *emitter
	started    time.Time
	elapsed    time.Duration
	begun      time.Duration // active time when a nested run began; 0 for others
	ids        identity
	spent      map[string]engine.ModelUsage
	spoken     spoken
	retries    *model.Retries    // of the whole tree of runs
	charges    charges           // likewise
	segments   *journal.Segments // what the journal's requests are made of; of the whole tree of runs
	defs       modelrecord.Tools
	parent     *run // of a nested agent
	depth      int
	leaving    sync.WaitGroup // of the root: the hosts of its agents
	agent      string         // path of a nested run
}

type callKey struct{ role, step string }

type boundModel struct {
	spec   *engine.ModelSpec
	model  model.Model
	chosen model.Model // for the call that is being made; nil = not yet
	more   bool        // there is another llm to ask
}

// identity is the ids a result shows.
type identity struct {
	memory, parent, interaction, executorMemory, executorInteraction string
}

func newRun(p *engine.Program, h engine.Host, in engine.Input, o Options) *run {
	r := &run{
		program: p, host: h, input: in, opts: o,
		models: make(map[string]boundModel, len(p.Models)),
		tools:  make(map[string]*BoundTool, len(h.Tools)),
		calls:  map[callKey]int{}, counts: map[string]int{}, spent: map[string]engine.ModelUsage{}, segments: &journal.Segments{},
		retries: &model.Retries{}, charges: charges{},
	}
	for i := range p.Models {
		m := h.Models[p.Models[i].Name]
		if rm, ok := m.(model.RunScoped); ok {
			m = rm.ForRun(in.RunID)
		}
		r.models[p.Models[i].Name] = boundModel{spec: &p.Models[i], model: m}
	}
	r.infos = make([]tool.Info, 0, len(h.Tools))
	for _, t := range h.Tools {
		if _, ok := t.Tool.(tool.Toolset); !ok { // see equip
			r.register(BoundTool{Binding: t})
		}
	}
	r.consumed = newBudget(p.Limits)
	r.emit = &emitter{sinks: h.Sinks, run: in.RunID}
	r.state = engine.State{Parameters: in.Parameters}
	r.state.Question, _ = in.Parameters["question"].(string)
	return r
}

func (r *run) options() kernel.Options {
	ko := kernel.Options{
		RunID: r.input.RunID, Start: startOf(r.program, r.input), Journal: r.opts.Journal, Virtual: r.opts.Virtual,
		Answers: r.opts.Answers, Resolve: resolved(r.opts.Resolve), Cancel: r.opts.Cancel,
		Wall: r.opts.Wall, Grace: r.opts.Grace, Changed: r.changed,
		By: journaledActor(r.opts.By), Decided: r.recordDecision,
	}
	if by := r.opts.CancelledBy; by != nil {
		ko.CancelledBy = func() json.RawMessage { return journaledActor(by()) }
	}
	if r.opts.More != nil {
		ko.Change = r.change
	}
	if r.opts.Recorded != nil {
		ko.Recorded = r.opts.Recorded
	}
	if f := r.opts.Follow; f != nil {
		ko.More = f.next
	}
	ko.Tell = r.emit.on() && (r.opts.Follow != nil || r.emit.recalls())
	if people := r.host.People; people != nil {
		ko.Ask = func(ctx context.Context, path string, request []byte) (json.RawMessage, error) {
			q := interrupt.Question{Path: path}
			if err := json.Unmarshal(request, &q); err != nil {
				return nil, fmt.Errorf("question %s: %w", path, err)
			}
			q.Path = path
			return people.Ask(ctx, q)
		}
	}
	return ko
}

// main is the whole run, as plain code over effects.
func (r *run) main(s *scope, start []byte) error {
	b, err := decodeStart(start)
	if err != nil {
		return err
	}
	if b.Digest != r.program.Digest {
		return &kernel.Drift{Class: "program", Message: "the journal was written by program " + b.Digest + ", this is " + r.program.Digest}
	}
	r.input = b.Input
	r.state.Parameters = b.Input.Parameters
	r.state.Question, _ = b.Input.Parameters["question"].(string)
	r.started = s.k.Start().UTC()
	r.identify()
	s.event(engine.Event{Type: engine.RunStarted, Spec: r.specInfo(), Question: r.state.Question})
	if err = r.readHistory(s); err == nil {
		err = s.inTime(r.equipAndWalk)
	}
	if err = r.wrapUp(s, err); err != nil {
		return err
	}
	if err := r.remember(s); err != nil {
		return err
	}
	r.elapsed = s.k.Now()
	totals := r.state.Usage
	totals.ByModel = maps.Clone(r.spent)
	s.event(engine.Event{
		Type: engine.RunCompleted, Status: string(r.reason.Status), Stop: &r.reason,
		Text: r.answerText(), Duration: engine.Milliseconds(s.k.Now()), Totals: &totals,
	})
	r.segments = nil // nothing is asked any more, but the last commit may take a while
	return nil
}

// equipAndWalk connects the tools, then walks the graph.
func (r *run) equipAndWalk(s *scope) error {
	if err := r.equip(s); err != nil {
		return err
	}
	return r.walkGraph(s)
}

// walkGraph walks the graph until it ends.
func (r *run) walkGraph(s *scope) error {
	s = s.child("") // what stops the walk does not stop what comes after it
	r.walk = s.k
	at, before := r.program.Graph.Start, ""
	for n := range engine.MaxVisits {
		if err := s.boundary("node", strconv.Itoa(n+1)); err != nil {
			return err
		}
		if r.traced() {
			r.trace(Visited{at})
		}
		if at == engine.End {
			return r.ended(s, before)
		}
		next, err := r.visit(s, at)
		if err != nil {
			return err
		}
		at, before = next, at
	}
	return stop.AtLimit(stop.Loop, "graph", "the graph was walked for %d nodes without an end", engine.MaxVisits)
}

// ended is the end of a walk behind a node: what is answered.
func (r *run) ended(s *scope, before string) error {
	if _, f := engine.NodeWith[engine.Finalizer](r.program); f != nil {
		return f.FinalizeAnswer(s, before)
	}
	if r.state.Answer == nil {
		s.Record(engine.Answered{Answer: engine.Answer{Text: r.state.Words}})
	}
	return nil
}

// visit runs a node and says where the walk goes on.
func (r *run) visit(s *scope, at string) (string, error) {
	err := r.program.Nodes[at].Run(s)
	if errors.Is(err, engine.ErrReplan) {
		var id string
		if id, err = r.replanned(s, at, err); err == nil {
			return id, nil
		}
	}
	if err != nil {
		return "", fmt.Errorf("node %s: %w", at, err)
	}
	return r.next(s, at)
}

// replanned is where the walk goes on for a new plan, or why it ends.
func (r *run) replanned(s *scope, at string, why error) (string, error) {
	id := r.program.Replanner(at, r.state.Planner)
	guard, urged := errors.AsType[*engine.ReplanError](why)
	switch {
	case urged && id == "":
		return "", s.stop(&stop.Error{Reason: stop.Reason{
			Code: stop.Guard, Status: stop.RunStopped, Path: guard.Path,
			Message: guard.Message + " (a new plan is wanted, and nobody here makes one)",
		}})
	case urged:
		s.Record(engine.ReplanRequested{Message: guard.Message})
	case id == "":
		return "", why
	}
	return id, nil
}

// next is the end of the first edge whose guard holds. A node without edges
// ends the walk.
func (r *run) next(s *scope, at string) (string, error) {
	for _, e := range r.program.Graph.From(at) {
		ok, err := r.holds(s, e.Label, e.Guard, e.Each)
		if err != nil {
			s.Record(engine.WarningAdded{Text: fmt.Sprintf("edge %s -> %s: its condition fails on the values there are: %v", at, e.To, err)})
		}
		if ok {
			if s.r.traced() {
				s.r.trace(EdgeTaken{at, e.To, e.Label})
			}
			return e.To, nil
		}
	}
	return engine.End, nil
}

// holds says whether an edge is taken. A condition that fails on the values
// there are does not hold, but a trigger that fails fires: better one look too
// many than one too few.
func (r *run) holds(s *scope, label string, guard engine.Condition, each bool) (bool, error) {
	if label == "" {
		return true, nil
	}
	v := s.View()
	if !each {
		ok, err := guard.Eval(v.Env(label))
		return ok && err == nil, err
	}
	for _, id := range r.state.Fresh {
		rec, _ := r.state.Record(id)
		if ok, err := guard.Eval(v.StepEnv(label, rec)); ok || err != nil {
			return true, err
		}
	}
	return false, nil
}

// wrapUp turns the end of the walk into the stop reason, and lets the
// finalizer write an answer where a limit or a guard ended it.
func (r *run) wrapUp(s *scope, err error) error {
	var end *stop.Error
	switch {
	case err == nil:
		r.reason = stop.Reason{Code: stop.Answered, Status: stop.RunCompleted}
		return nil
	case errors.As(err, &end):
		r.reason, r.unanswered = end.Reason, end.Cause
	case errors.Is(err, kernel.ErrTimeout):
		r.reason = stop.Reason{
			Code: stop.Deadline, Path: "limits.max_duration", Status: stop.RunStopped,
			Message: fmt.Sprintf("the run took longer than %s", r.program.Limits.MaxDuration),
		}
	case errors.Is(err, kernel.ErrCancelled):
		r.reason = stop.Reason{Code: stop.Cancelled, Status: stop.RunCancelled, Message: "cancelled by decision"}
	default:
		if m := model.AsError(err); m != nil {
			r.reason = stop.Reason{Code: stop.ProviderError, Status: stop.RunFailed, Path: r.failed, Message: err.Error()}
			r.unanswered = m
			break
		}
		return err
	}
	if r.reason.Status == stop.RunFailed || r.reason.Status == stop.RunCancelled {
		r.err = r.reason.Message
		return nil
	}
	if r.reason.Code != stop.Guard {
		s.event(engine.Event{Type: engine.LimitReached, Stop: &r.reason})
	}
	return r.finalize(s)
}

// lastly runs the finalizer within what is left of max_duration. A write in
// flight is not cut, so nothing may be left. Journals of version 0.1.0 have no
// timer here, or one that began when the time was over.
func (r *run) lastly(s *scope, finalizer engine.Node) error {
	const timer = "closing/timer"
	if r.program.Limits.MaxDuration <= 0 || s.k.Replaying() && !s.k.Next(timer) && s.k.Omits("closing") {
		return finalizer.Run(s)
	}
	left := r.program.Limits.MaxDuration - (s.k.Now() - r.begun)
	if left <= 0 && !s.k.Next(timer) {
		return kernel.ErrTimeout
	}
	return s.Timeout("closing", max(left, 1), finalizer.Run)
}

// finalize asks the finalizer for an answer; where it cannot be had the run
// still answers with what its steps gave.
func (r *run) finalize(s *scope) error {
	r.closing = true
	r.consumed.open()
	if r.state.Answer != nil {
		return nil
	}
	if id, _ := engine.NodeWith[engine.Finalizer](r.program); id != "" && len(r.program.Models) > 0 {
		err := r.lastly(s, r.program.Nodes[id])
		var stop *stop.Error
		if err != nil && !errors.As(err, &stop) && model.AsError(err) == nil && !engine.TimedOut(err) {
			return err
		}
		if err != nil {
			s.Record(engine.WarningAdded{Text: "the finalizer gave no answer: " + err.Error(), Repair: engine.AnswerMissing})
		}
	}
	if r.state.Answer == nil {
		s.Record(engine.Answered{Answer: engine.Answer{Text: r.fallback()}})
	}
	return nil
}

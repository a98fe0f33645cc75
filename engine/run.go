package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// Run runs a program to its end, or to where it must wait. It returns a Result
// in every case; a journal that holds records is run again from its start and
// goes on where it ends. Run may be called many times at once.
func Run(ctx context.Context, p *Program, in Input, h Host, o Options) *Result {
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
	program    *Program
	host       Host
	input      Input
	opts       Options
	state      State
	models     map[string]boundModel
	tools      map[string]*BoundTool
	infos      []ToolInfo
	calls      map[callKey]int
	counts     map[string]int
	consumed   *budget
	stopping   *StopError
	underway   int           // tool calls begun and not ended,
	delegated  int           // and those that agents answer
	inFlight   []*ToolCalled // calls that have not ended, oldest first, for run.calls
	troubles   map[string]*trouble
	wrote      bool
	uncertain  uncertain // of the root
	missed     *Miss
	unanswered *ModelError     // what ended it
	failed     string          // where the spec defines the llm of the last call that failed
	unkept     bool            // the journal could not be appended to
	granted    bool            // of the root: a call has vectors made that it was granted
	outdated   bool            // another version's prompts were met
	warned     map[string]bool // of the root: see warnOnce
	closing    bool            // the finalizer runs: effects are allowed, the reserve is open
	walk       *kernel.Scope
	reason     StopReason
	err        string
	open       []Question
	decisions  []DecisionRecord // of the root
	emit       *emitter
	started    time.Time
	elapsed    time.Duration
	begun      time.Duration // active time when a nested run began; 0 for others
	ids        identity
	spent      map[string]ModelUsage
	spoken     spoken
	retries    *Retries          // of the whole tree of runs
	charges    charges           // likewise
	segments   *journal.Segments // what the journal's requests are made of; of the whole tree of runs
	defs       toolsJSON
	parent     *run // of a nested agent
	depth      int
	leaving    sync.WaitGroup // of the root: the hosts of its agents
	agent      string         // path of a nested run
}

type callKey struct{ role, step string }

type boundModel struct {
	spec   *ModelSpec
	model  Model
	chosen Model // for the call that is being made; nil = not yet
	more   bool  // there is another llm to ask
}

// identity is the ids a result shows.
type identity struct {
	memory, parent, interaction, executorMemory, executorInteraction string
}

func newRun(p *Program, h Host, in Input, o Options) *run {
	r := &run{
		program: p, host: h, input: in, opts: o,
		models: make(map[string]boundModel, len(p.Models)),
		tools:  make(map[string]*BoundTool, len(h.Tools)),
		calls:  map[callKey]int{}, counts: map[string]int{}, spent: map[string]ModelUsage{}, segments: &journal.Segments{},
		retries: &Retries{}, charges: charges{},
	}
	for i := range p.Models {
		m := h.Models[p.Models[i].Name]
		if rm, ok := m.(RunModel); ok {
			m = rm.ForRun(in.RunID)
		}
		r.models[p.Models[i].Name] = boundModel{spec: &p.Models[i], model: m}
	}
	r.infos = make([]ToolInfo, 0, len(h.Tools))
	for _, t := range h.Tools {
		if _, ok := t.Tool.(Toolset); !ok { // see equip
			r.register(BoundTool{HostTool: t})
		}
	}
	r.consumed = newBudget(p.Limits)
	r.emit = &emitter{sinks: h.Sinks, run: in.RunID}
	r.state = State{Parameters: in.Parameters}
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
			q := Question{Path: path}
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
	s.event(Event{Type: RunStarted, Spec: r.specInfo(), Question: r.state.Question})
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
	s.event(Event{
		Type: RunCompleted, Status: string(r.reason.Status), Stop: &r.reason,
		Text: r.answerText(), Duration: milliseconds(s.k.Now()), Totals: &totals,
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
	for n := range MaxVisits {
		if err := s.boundary("node", strconv.Itoa(n+1)); err != nil {
			return err
		}
		if r.traced() {
			r.trace(Visited{at})
		}
		if at == End {
			return r.ended(s, before)
		}
		next, err := r.visit(s, at)
		if err != nil {
			return err
		}
		at, before = next, at
	}
	return AtLimit(StopLoop, "graph", "the graph was walked for %d nodes without an end", MaxVisits)
}

// ended is the end of a walk behind a node: what is answered.
func (r *run) ended(s *scope, before string) error {
	if c, ok := r.program.role("finalizer").(Concluder); ok {
		return c.Conclude(s, before)
	}
	if r.state.Answer == nil {
		s.Record(Answered{Answer{Text: r.state.Words}})
	}
	return nil
}

// visit runs a node and says where the walk goes on.
func (r *run) visit(s *scope, at string) (string, error) {
	err := r.program.Nodes[at].Run(s)
	if errors.Is(err, ErrReplan) {
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
	guard, urged := errors.AsType[*ReplanError](why)
	switch {
	case urged && id == "":
		return "", s.stop(&StopError{Reason: StopReason{
			Code: StopGuard, Status: Stopped, Path: guard.Path,
			Message: guard.Message + " (a new plan is wanted, and nobody here makes one)",
		}})
	case urged:
		s.Record(Urged{Message: guard.Message})
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
			s.Record(Warned{Text: fmt.Sprintf("edge %s -> %s: its condition fails on the values there are: %v", at, e.To, err)})
		}
		if ok {
			if s.r.traced() {
				s.r.trace(EdgeTaken{at, e.To, e.Label})
			}
			return e.To, nil
		}
	}
	return End, nil
}

// holds says whether an edge is taken. A condition that fails on the values
// there are does not hold, but a trigger that fails fires: better one look too
// many than one too few.
func (r *run) holds(s *scope, label string, guard Condition, each bool) (bool, error) {
	if label == "" {
		return true, nil
	}
	v := s.View()
	if !each {
		ok, err := guard.Eval(v.Env(label))
		return ok && err == nil, err
	}
	for _, id := range r.state.fresh {
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
	var stop *StopError
	switch {
	case err == nil:
		r.reason = StopReason{Code: StopAnswered, Status: Completed}
		return nil
	case errors.As(err, &stop):
		r.reason, r.unanswered = stop.Reason, stop.model
	case errors.Is(err, kernel.ErrTimeout):
		r.reason = StopReason{
			Code: StopDeadline, Path: "limits.max_duration", Status: Stopped,
			Message: fmt.Sprintf("the run took longer than %s", r.program.Limits.MaxDuration),
		}
	case errors.Is(err, kernel.ErrCancelled):
		r.reason = StopReason{Code: StopCancelled, Status: Cancelled, Message: "cancelled by decision"}
	default:
		if m := AsModelError(err); m != nil {
			r.reason = StopReason{Code: StopProviderError, Status: Failed, Path: r.failed, Message: err.Error()}
			r.unanswered = m
			break
		}
		return err
	}
	if r.reason.Status == Failed || r.reason.Status == Cancelled {
		r.err = r.reason.Message
		return nil
	}
	if r.reason.Code != StopGuard {
		s.event(Event{Type: LimitReached, Stop: &r.reason})
	}
	return r.finalize(s)
}

// maxClosing bounds the part of max_duration that is kept for the finalizer.
const maxClosing = 30 * time.Second

// closing is the part of max_duration that is kept for the finalizer: a tenth of
// it, at most 30 s.
func (l Limits) closing() time.Duration { return min(maxClosing, l.MaxDuration/10) }

// lastly runs the finalizer within what is left of max_duration. A write in
// flight is not cut, so nothing may be left. Journals of version 0.1.0 have no
// timer here, or one that began when the time was over.
func (r *run) lastly(s *scope, finalizer Node) error {
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
	if node := r.program.role("finalizer"); node != nil && len(r.program.Models) > 0 {
		err := r.lastly(s, node)
		var stop *StopError
		if err != nil && !errors.As(err, &stop) && AsModelError(err) == nil && !isTimeout(err) {
			return err
		}
		if err != nil {
			s.Record(Warned{Text: "the finalizer gave no answer: " + err.Error(), Repair: AnswerMissing})
		}
	}
	if r.state.Answer == nil {
		s.Record(Answered{Answer{Text: r.fallback()}})
	}
	return nil
}

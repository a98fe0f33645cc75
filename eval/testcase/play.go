package testcase

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/runtime/replay"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/eval/faultinject"
	"github.com/pexctl/pex/eval/render"
	"github.com/pexctl/pex/eval/report"
)

// runID is the id of every run of a case: what is derived from it is the same
// each time.
const runID = "test"

// play runs the case, if it has a run, in virtual time.
func (t *try) play(ctx context.Context) {
	if t.c.Run == nil {
		return
	}
	base, rec, ok := t.setUp()
	if !ok {
		return
	}
	if t.unit.Cover != nil {
		t.requests.also = t.unit.Cover
	}
	kept := &journal.Memory{} // requests are only compared where a journal keeps them
	res := runtime.Run(ctx, t.unit.Program, t.input(), t.host(base), runtime.Options{
		Journal: kept, Virtual: true, WallClock: fixed(t.world.place.Now), Recorded: rec, Tracer: &t.requests, Version: t.bench.Version,
	})
	t.judge(ctx, res, rec, kept.Records)
}

// host is everybody that the run of the case can ask.
func (t *try) host(base engine.Host) engine.Host {
	h := t.world.host(t.unit.Program, base, t.world.place)
	if t.world.faults != nil {
		h = t.world.faults.Host(t.unit.Program, h)
	}
	if len(t.c.Run.Answers) > 0 {
		h.Responder = people(t.c.Run.Answers)
	}
	return h
}

func (t *try) input() engine.Input {
	r := t.c.Run
	return engine.Input{RunID: runID, Parameters: t.parameters, MemoryID: r.MemoryID, Files: r.Files}
}

// setUp selects what replies for models and tools, and what is recorded.
func (t *try) setUp() (base engine.Host, rec *replay.Recording, ok bool) {
	r := t.c.Run
	if !t.injected() {
		return base, nil, false
	}
	var recs []journal.Record
	if r.Cassette != "" {
		if recs, ok = t.cassette(); !ok {
			return base, nil, false
		}
		t.world.replays = true
	}
	if r.Replies != nil && !t.world.replays {
		if !t.scripted() {
			return base, nil, false
		}
	}
	base = t.unit.Host
	if now := t.world.place.Now; !now.Equal(render.Epoch) && !t.world.replays {
		var err error
		if base, err = t.bench.Host(t.unit.Program, t.world.place); err != nil {
			t.addError("tools", err)
			return base, nil, false
		}
	}
	if t.remembers(base, recs) {
		t.world.memory = newMemory()
	}
	return base, t.recording(recs), true
}

// injected makes the faults of the case.
func (t *try) injected() bool {
	if len(t.c.Inject) == 0 {
		return true
	}
	faults, err := faultinject.New(t.c.Inject)
	if err != nil {
		t.addError("inject", err)
		return false
	}
	t.world.faults = faults
	return true
}

// scripted makes the model of the case's replies: one script for every llm, so
// that its replies are taken in one order.
func (t *try) scripted() bool {
	var retry retry.Policy
	if models := t.unit.Program.Models; len(models) > 0 {
		retry = models[0].Retry
	}
	m, err := t.bench.Script(t.c.Run.Replies, retry)
	if err != nil {
		t.addError("run.replies", err)
		return false
	}
	t.world.script = shared(m)
	return true
}

// shared is a model of which all llms of a run use up the same replies.
func shared(m model.Model) model.Model {
	if rm, ok := m.(model.RunScoped); ok {
		m = rm.ForRun(runID)
	}
	if s, ok := m.(model.Sequenced); ok {
		return oneScript{m, s}
	}
	return m
}

type oneScript struct {
	model.Model
	model.Sequenced
}

// missing says that nobody answers, and how to have a recording do it.
func (t *try) missing(what, tape string) {
	t.partial, t.out.MissingCassette = true, true
	p := report.Problem{Kind: report.ProblemMissing, Where: t.short(tape), File: t.c.Position.File, Line: t.c.Run.Position.Line}
	const way = "pexctl test --record missing runs the case live and writes one"
	p.Message = what + "; " + way
	if tape == "" {
		p.Message = fmt.Sprintf("%s; say where one belongs, run: {cassette: %s}: %s", what, t.proposal(), way)
	}
	t.problem(p)
}

// remembers says whether the run needs a memory: one of its own, or one whose
// part the recording plays.
func (t *try) remembers(base engine.Host, recs []journal.Record) bool {
	if t.world.replays {
		return slices.ContainsFunc(recs, func(r journal.Record) bool { return strings.HasPrefix(r.Path, "memory.") })
	}
	keeps := func(h tool.Binding) bool { _, ok := h.Tool.(tool.SessionKeeper); return ok }
	return t.c.Run.MemoryID != "" || slices.ContainsFunc(base.Tools, keeps)
}

// recording is what answers the run. One without a cassette answers nothing: it
// only counts.
func (t *try) recording(recs []journal.Record) *replay.Recording {
	o := replay.Options{Passthrough: t.world.aside}
	if !t.world.replays {
		o.Live = true
		return replay.New(nil, o)
	}
	o.Secrets = t.secrets()
	o.Tolerate = append([]drift.Class{drift.Prompt}, t.bench.Tolerate...)
	rec := replay.New(recs, o)
	if t.world.faults != nil {
		t.world.faults.Replay(rec, t.world.answered())
	}
	return rec
}

// root is the word for the project's root in recordings and goldens: they are
// the same wherever the project is checked out.
const root = "root"

// secrets are what no recording holds, and the folder that none names.
func (t *try) secrets() *secret.Values {
	return t.bench.Secrets(t.unit.Program).Folder(t.unit.Root, root)
}

// short is a path as it is told.
func (t *try) short(path string) string {
	if path == "" {
		return ""
	}
	if t.bench.DisplayPath != nil {
		return t.bench.DisplayPath(path)
	}
	if rel, err := filepath.Rel(t.unit.Root, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// people answers the questions of a run as the case says: by the question's
// path, else by its kind, else by "*".
type people map[string]string

var _ interrupt.Responder = people(nil)

// Ask implements interrupt.Responder; a question without an answer parks the run.
func (p people) Ask(_ context.Context, q interrupt.Question) (json.RawMessage, error) {
	for _, name := range []string{q.Path, string(q.Kind), "*"} {
		if text, ok := p[name]; ok {
			return json.Marshal(interrupt.Parse(text))
		}
	}
	return nil, fmt.Errorf("run.answers has none for %s", cmp.Or(q.Path, string(q.Kind)))
}

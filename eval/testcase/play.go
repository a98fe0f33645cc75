package testcase

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/testspec"
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

// runID is the id of every run of a case, so that values derived from it are reproducible.
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
		t.requests.next = t.unit.Cover
	}
	records := &journal.Memory{} // drift is detected only with a journal
	res := runtime.Run(ctx, t.unit.Program, t.input(), t.host(base), runtime.Options{
		Journal: records, Virtual: true, WallClock: fixed(t.world.place.Now), Recorded: rec, Tracer: &t.requests, Version: t.bench.Version, By: t.answersBy(),
	})
	t.judge(ctx, res, rec, records.Records)
}

// host returns the host of the case's run.
func (t *try) host(base engine.Host) engine.Host {
	h := t.world.host(t.unit.Program, base, t.world.place)
	if t.world.faults != nil {
		h = t.world.faults.Host(t.unit.Program, h)
	}
	if len(t.c.Run.Answers) > 0 {
		h.Responder = answers(t.c.Run.Answers)
	}
	return h
}

func (t *try) input() engine.Input {
	r := t.c.Run
	in := engine.Input{RunID: runID, Parameters: t.parameters, MemoryID: r.MemoryID, Files: r.Files}
	if t.unit.Program.RestrictsApprovers() {
		in.By = &engine.Actor{User: "tester", Issuer: testspec.TestIssuer}
	}
	return in
}

// answersBy returns who gives the answers of the case.
func (t *try) answersBy() engine.Actor {
	if by := t.c.Run.By; by != nil {
		return *by
	}
	return engine.Actor{}
}

// setUp selects what replies for models and tools, and what is recorded.
func (t *try) setUp() (base engine.Host, rec *replay.Recording, ok bool) {
	r := t.c.Run
	if !t.prepareFaults() {
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
		if !t.prepareScript() {
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
	if t.needsMemory(base, recs) {
		t.world.memory = newMemory()
	}
	return base, t.recording(recs), true
}

// prepareFaults prepares the faults of the case. It returns false if one is invalid.
func (t *try) prepareFaults() bool {
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

// prepareScript builds the model from the case's replies. All LLMs share one script, so that replies are used in call
// order.
func (t *try) prepareScript() bool {
	var retry retry.Policy
	if models := t.unit.Program.Models; len(models) > 0 {
		retry = models[0].Retry
	}
	m, err := t.bench.Script(t.c.Run.Replies, retry)
	if err != nil {
		t.addError("run.replies", err)
		return false
	}
	t.world.script = shareScript(m)
	return true
}

// shareScript returns a model whose replies are shared by all LLMs of a run.
func shareScript(m model.Model) model.Model {
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

// missing reports that a reply is missing, and how to record one.
func (t *try) missing(what, tape string) {
	t.partial, t.out.MissingCassette = true, true
	p := report.Problem{Kind: report.ProblemMissing, Where: t.short(tape), File: t.c.Position.File, Line: t.c.Run.Position.Line}
	const howTo = "pexctl test --record missing runs the case live and writes one"
	p.Message = what + "; " + howTo
	if tape == "" {
		p.Message = fmt.Sprintf("%s; set its path, run: {cassette: %s}: %s", what, t.proposedCassette(), howTo)
	}
	t.problem(p)
}

// needsMemory reports whether the run needs a conversation store: an empty one, or one whose calls the recording
// replays.
func (t *try) needsMemory(base engine.Host, recs []journal.Record) bool {
	if t.world.replays {
		return slices.ContainsFunc(recs, func(r journal.Record) bool { return strings.HasPrefix(r.Path, "memory.") })
	}
	keeps := func(h tool.Binding) bool { _, ok := h.Tool.(tool.SessionKeeper); return ok }
	return t.c.Run.MemoryID != "" || slices.ContainsFunc(base.Tools, keeps)
}

// recording returns the recording that the run replays. Without a cassette it is empty, and only counts calls.
func (t *try) recording(recs []journal.Record) *replay.Recording {
	o := replay.Options{Passthrough: t.world.passthrough}
	if !t.world.replays {
		o.Live = true
		return replay.New(nil, o)
	}
	o.Secrets = t.secrets()
	o.Tolerate = append([]drift.Class{drift.Prompt}, t.bench.Tolerate...)
	rec := replay.New(recs, o)
	if t.world.faults != nil {
		t.world.faults.Replay(rec, t.world.answeredTools())
	}
	return rec
}

// root replaces the path of the project root in recordings and goldens, so that they are equal on all machines.
const root = "root"

// secrets returns the values to redact from recordings, including the project's path.
func (t *try) secrets() *secret.Values {
	return t.bench.Secrets(t.unit.Program).Folder(t.unit.Root, root)
}

// short formats a path for display.
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

// answers answers questions with the answers of the case, by the question's path, else by its kind, else "*".
type answers map[string]string

var _ interrupt.Responder = answers(nil)

// Ask implements interrupt.Responder. Without an answer the run waits.
func (p answers) Ask(_ context.Context, q interrupt.Question) (json.RawMessage, error) {
	for _, name := range []string{q.Path, string(q.Kind), "*"} {
		if text, ok := p[name]; ok {
			return json.Marshal(interrupt.Parse(text))
		}
	}
	return nil, fmt.Errorf("run.answers has no answer for %s", cmp.Or(q.Path, string(q.Kind)))
}

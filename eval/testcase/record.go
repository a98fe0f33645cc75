package testcase

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
)

// grace is how long what is under way may go on once a recording is cut.
const grace = 5 * time.Second

// Record runs a case live, with the models that its spec names, and keeps the
// cassette where the case wants it (c then names it); what stood there stays
// until the new one is whole. Tools are real, but those that write work in a copy of the spec's
// folder; run.tools, run.answers and inject hold as they do in a test. A run
// that a person is waited for in, or whose provider failed by itself, leaves no
// cassette.
func Record(ctx context.Context, b *Bench, u *Unit, c *dsl.Case) (*engine.Result, error) {
	switch {
	case c.Run == nil:
		return nil, errors.New("the case has no run")
	case c.Run.Replies != nil:
		return nil, errors.New("the case has replies: nothing is left to record")
	case b.Live == nil:
		return nil, errors.New("nothing can be recorded here")
	}
	t := newTry(b, u, c)
	if !t.prepare() {
		return nil, errors.New(t.out.Problems[0].Message)
	}
	defer t.world.close()
	tape := t.tape()
	if tape == "" {
		return nil, fmt.Errorf("the case does not say where its cassette belongs: run: {cassette: %s}", t.proposal())
	}
	return t.record(ctx, tape)
}

func (t *try) record(ctx context.Context, tape string) (*engine.Result, error) {
	if !t.injected() {
		return nil, errors.New(t.out.Problems[0].Message)
	}
	at := t.world.place
	if t.state.Now.IsZero() {
		at.Now = time.Time{} // the time it is
	}
	t.world.place = at
	base, err := t.bench.Live(t.unit.Program, at, t.parameters)
	if err != nil {
		return nil, err
	}
	if t.remembers(base, nil) {
		t.world.memory = newMemory()
	}
	if err := os.MkdirAll(filepath.Dir(tape), 0o755); err != nil {
		return nil, err
	}
	next := filepath.Join(filepath.Dir(tape), "."+filepath.Base(tape)+".new")
	rec, err := t.bench.Recorder(&journal.Memory{}, next, t.bench.Secrets(t.unit.Program))
	if err != nil {
		return nil, err
	}
	o := engine.Options{Journal: rec, Recorded: t.recording(nil), Grace: grace, Version: t.bench.Version}
	if !at.Now.IsZero() {
		o.Wall = fixed(at.Now)
	}
	res := engine.Run(ctx, t.unit.Program, t.input(), t.host(base), o)
	err = errors.Join(rec.Close(), t.unfit(res))
	if err != nil {
		_ = os.Remove(next) // it may not be there
		return res, err
	}
	if err = os.Rename(next, tape); err == nil {
		t.c.Run.Cassette = tape
	}
	return res, err
}

// unfit says why a live run is no recording.
func (t *try) unfit(res *engine.Result) error {
	switch {
	case res.Status == engine.Interrupted && len(res.Interrupts) > 0:
		q := res.Interrupts[0]
		return fmt.Errorf("the run waits for a person at %s; answer in the case: run: {answers: {%q: approve}}", q.Path, q.Path)
	case res.Status == engine.Interrupted:
		return errors.New(res.StopReason.Message)
	case res.StopReason.Code == engine.StopProviderError && t.world.faults == nil, res.StopReason.Code == engine.StopInternal:
		return errors.New(res.StopReason.Message)
	}
	return nil
}

// tape is where the cassette of the case belongs; "" = the case has to say.
func (t *try) tape() string {
	if t.c.Run.Cassette != "" {
		return t.c.Run.Cassette
	}
	if filepath.Base(t.c.Position.File) == "case.yaml" {
		return filepath.Join(t.c.Dir, "cassette.jsonl")
	}
	return ""
}

// proposal is a place for the cassette of a case that names none.
func (t *try) proposal() string {
	return "tests/" + dsl.Slug(t.c.Name) + "/cassette.jsonl"
}

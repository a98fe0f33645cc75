package testcase

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
)

// grace is how long calls in flight may continue after a recording is stopped.
const grace = 5 * time.Second

// ErrNoSpecFile is returned if a case has no path for its cassette.
var ErrNoSpecFile = errors.New("the case has no path for its cassette")

// Record runs a case live with the models of its spec, and writes the cassette to the
// case's path (then set in c), replacing an existing one atomically. Tools are real, but
// those that write work in a copy of the spec's folder; run.tools, run.answers and inject
// apply as in a test. A run that waits for a human, or whose provider failed, leaves no
// cassette.
func Record(ctx context.Context, b *Bench, u *Unit, c *testspec.Case) (*engine.Result, error) {
	switch {
	case c.Run == nil:
		return nil, errors.New("the case has no run")
	case c.Run.Replies != nil:
		return nil, errors.New("the case has replies, so there is nothing to record")
	case b.Live == nil:
		return nil, errors.New("recording is not available")
	}
	t := newTry(b, u, c)
	if !t.prepare() {
		return nil, errors.New(t.out.Problems[0].Message)
	}
	defer t.world.close()
	tape := t.cassettePath()
	if tape == "" {
		return nil, fmt.Errorf("%w: run: {cassette: %s}", ErrNoSpecFile, t.proposedCassette())
	}
	return t.record(ctx, tape)
}

func (t *try) record(ctx context.Context, tape string) (*engine.Result, error) {
	if !t.prepareFaults() {
		return nil, errors.New(t.out.Problems[0].Message)
	}
	if t.state.Now.IsZero() {
		t.world.place.Now = time.Time{} // the current time
	}
	t.world.connect = func(p *engine.Program, at Place) (engine.Host, error) { return t.bench.Live(p, at, t.parameters) }
	base, err := t.world.connect(t.unit.Program, t.world.place)
	if err != nil {
		return nil, err
	}
	if t.needsMemory(base, nil) {
		t.world.memory = newMemory()
	}
	if err := errors.Join(t.world.copies.begin(), checkWritable(tape)); err != nil {
		return nil, err
	}
	draft, err := os.MkdirTemp("", "pex-tape-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(draft) }() // a failed removal is harmless
	res, err := t.live(ctx, base, filepath.Join(draft, "cassette.jsonl"))
	if err != nil {
		_ = os.Remove(filepath.Dir(tape)) // succeeds only if it is empty
		return res, err
	}
	if err = install(filepath.Join(draft, "cassette.jsonl"), tape); err == nil {
		t.c.Run.Cassette = tape
	}
	return res, err
}

// live runs the case and records it to a file.
func (t *try) live(ctx context.Context, base engine.Host, path string) (*engine.Result, error) {
	secrets := t.secrets().Folder(t.world.copies.root, root)
	rec, err := t.bench.Recorder(&journal.Memory{}, path, secrets)
	if err != nil {
		return nil, err
	}
	o := runtime.Options{Journal: rec, Recorded: t.recording(nil), Grace: grace, Version: t.bench.Version, By: t.answersBy()}
	if now := t.world.place.Now; !now.IsZero() {
		o.WallClock = fixed(now)
	}
	res := runtime.Run(ctx, t.unit.Program, t.input(), t.host(base), o)
	return res, errors.Join(rec.Close(), t.whyNoRecording(res))
}

// checkWritable returns an error if path cannot be written. It is called before the run.
func checkWritable(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".cassette-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// install moves a file to its destination atomically, readable by everyone because cassettes belong to the tests.
func install(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(to), ".cassette-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), to)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// whyNoRecording returns why a live run cannot be a recording.
func (t *try) whyNoRecording(res *engine.Result) error {
	switch {
	case res.Status == stop.RunInterrupted && len(res.Interrupts) > 0:
		return errors.New(unanswered(res.Interrupts[0]))
	case res.Status == stop.RunInterrupted:
		return errors.New(res.StopReason.Message)
	case res.StopReason.Code == stop.ProviderError && t.world.faults == nil, res.StopReason.Code == stop.Internal:
		return errors.New(res.StopReason.Message)
	}
	return nil
}

// cassettePath returns the path of the case's cassette; "" = unknown.
func (t *try) cassettePath() string {
	if t.c.Run.Cassette != "" {
		return t.c.Run.Cassette
	}
	if filepath.Base(t.c.Position.File) == "case.yaml" {
		return filepath.Join(t.c.Dir, "cassette.jsonl")
	}
	return ""
}

// proposedCassette returns a path for the cassette of a case that has none.
func (t *try) proposedCassette() string {
	return "tests/" + testspec.Slug(t.c.Name) + "/cassette.jsonl"
}

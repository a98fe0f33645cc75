package runcmd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/runtime/replay"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
)

// ReplayLayers are the words of --replay, and the layers they answer.
var ReplayLayers = map[string][]string{"llm": {replay.LayerLLM}, "tools": {replay.LayerTool}, "all": nil}

func newReplayFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "replay", Usage: "take the answers of `WHAT` from a recording: llm, tools or all"},
		&cli.StringFlag{Name: "from", Usage: "the recording: a `RUN` of this home (its id, the beginning of it, or last), or a cassette file"},
		driftFlag(),
	}
}

// replayFlags are the flags that say what a run replays.
type replayFlags struct{ what, from, onDrift string }

func driftFlag() cli.Flag {
	return &cli.StringFlag{Name: "on-drift", Usage: "what becomes of a request that differs from the recorded one: `HOW` fail or live (default: fail)"}
}

// checkDrift returns a value of --on-drift as engine.Source has it.
func checkDrift(how string) (string, error) {
	switch how {
	case "", runs.DriftFail:
		return "", nil
	case runs.DriftLive:
		return how, nil
	}
	return "", failure.Usagef("--on-drift %s: there are fail and live", how)
}

// recording is what a run replays.
type recording struct {
	from    engine.Source
	records []journal.Record
	start   engine.Start // zero = the records have none
}

// readRecording reads the recording that a run was asked to replay, or returns
// nil; a RUN is one of the home of the spec.
func readRecording(c *ui.Call, f replayFlags) (*recording, error) {
	how, err := checkDrift(f.onDrift)
	if err != nil {
		return nil, err
	}
	switch {
	case f.what == "" && f.from == "":
		if f.onDrift != "" {
			return nil, failure.Usagef("--on-drift goes with --replay")
		}
		return nil, nil
	case f.what == "":
		return nil, failure.Usagef("--from %s: --replay llm, tools or all says what of it is replayed", f.from)
	case f.from == "":
		return nil, failure.Usagef("--replay %s: --from RUN or --from FILE says what is replayed", f.what)
	}
	layers, ok := ReplayLayers[f.what]
	if !ok {
		return nil, failure.Usagef("--replay %s: there are llm, tools and all", f.what)
	}
	r := &recording{from: engine.Source{Layers: layers, OnDrift: how}}
	if err := r.read(c, f.from); err != nil {
		return nil, err
	}
	r.start, _ = runtime.ReadStart(r.records) // a recording may be a part of a run
	return r, nil
}

// read finds the recording of a name, and reads it.
func (r *recording) read(c *ui.Call, name string) (err error) {
	if strings.ContainsAny(name, `/\`) || fspath.Exists(name) {
		if r.from.File, err = filepath.Abs(name); err != nil {
			return failure.Usagef("--from: %w", err)
		}
		r.records, err = project.ReadCassette(r.from.File)
		return err
	}
	dir, err := project.HomeOfSpec(c, c.Arg(0))
	if err != nil {
		return err
	}
	s, err := project.OpenHome(c, dir)
	if err != nil {
		return err
	}
	if r.from.Run, err = s.Find(name); err == nil {
		r.records, err = s.Source(&r.from)
	}
	return project.RunError(c, s, err)
}

// callsModels says that a run which replays the recording, nil = none, may call
// models.
func (r *recording) callsModels() bool { return r == nil || runs.CallsModels(&r.from) }

// prices are those that the recorded run began with.
func (r *recording) prices() map[string]model.Cost {
	if r == nil || r.start.Input.Origin == nil {
		return nil
	}
	return r.start.Input.Origin.Prices
}

// parameters are what the recorded run was given, of what the program takes: a
// replay need not be given the question again.
func (r *recording) parameters(p *engine.Program) ([]byte, error) {
	if r == nil {
		return nil, nil
	}
	return json.Marshal(runs.ParametersFor(p, r.start.Input.Parameters))
}

// explainMismatch shows what the recording holds in place of what a run asked for,
// and how to record again.
func explainMismatch(c *ui.Call, in engine.Input, m *replay.Mismatch) {
	w := c.Stderr
	from := m.Recorded
	if from == "" {
		if from = m.Nearest(); from != "" {
			fmt.Fprintf(w, "the nearest recorded request is that of %s\n", from)
		}
	}
	for _, d := range m.Differences() {
		fmt.Fprint(w, ui.Safe(w, ui.Diff("recorded "+d.What, d.Before, "now "+d.What, d.After)))
	}
	if m.Class == kernel.DriftExtra && from == "" && len(m.Request) > 0 && m.Model == nil {
		fmt.Fprintln(w, ui.Safe(w, "asked for: "+string(m.Request)))
	}
	if in.From.Until != 0 {
		fmt.Fprintf(w, "fork from an earlier place (--at), or take what differs live: --on-drift live\n")
		return
	}
	if spec := in.Origin; spec != nil {
		file := cmp.Or(in.From.File, "FILE")
		fmt.Fprintf(w, "record again: pexctl run %s %s --record %s; or take what is missing live: --on-drift live\n", fspath.Quote(spec.Spec), fspath.Quote(runs.Question(in)), fspath.Quote(file))
	}
}

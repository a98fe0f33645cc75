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
	"github.com/pexctl/pex/eval/textdiff"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
)

// ReplayLayers maps the values of --replay to the layers they replay.
var ReplayLayers = map[string][]string{"llm": {replay.LayerLLM}, "tools": {replay.LayerTool}, "all": nil}

func newReplayFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "replay", Category: ui.GroupReplay, Usage: "Replay `WHAT` from a recording instead of calling it: llm, tools or all"},
		&cli.StringFlag{Name: "from", Category: ui.GroupReplay, Usage: "Replay from `RUN`: a run id, a prefix of one, \"last\", or a cassette file"},
		driftFlag(),
	}
}

// replayFlags are the flags that select what a run replays.
type replayFlags struct{ what, from, onDrift string }

func driftFlag() cli.Flag {
	return &cli.StringFlag{Name: "on-drift", Category: ui.GroupReplay, Usage: "`HOW`: If a request differs from the recording, stop the run (fail) or make this call for real (live) (default: fail)"}
}

// checkDrift converts a value of --on-drift to the form in engine.Source.
func checkDrift(how string) (string, error) {
	switch how {
	case "", runs.DriftFail:
		return "", nil
	case runs.DriftLive:
		return how, nil
	}
	return "", failure.Usagef("invalid value %q for --on-drift; use fail or live", how)
}

// recording is the recording that a run replays.
type recording struct {
	from    engine.Source
	records []journal.Record
	start   engine.Start // zero if the records have none
}

// readRecording reads the recording to replay, or returns nil. A RUN belongs to
// the home of the spec.
func readRecording(c *ui.Call, f replayFlags) (*recording, error) {
	how, err := checkDrift(f.onDrift)
	if err != nil {
		return nil, err
	}
	switch {
	case f.what == "" && f.from == "":
		if f.onDrift != "" {
			return nil, failure.Usagef("--on-drift needs --replay")
		}
		return nil, nil
	case f.what == "":
		return nil, failure.Usagef("--from needs --replay; add --replay llm, --replay tools or --replay all")
	case f.from == "":
		return nil, failure.Usagef("--replay needs a recording; add --from RUN or --from FILE")
	}
	layers, ok := ReplayLayers[f.what]
	if !ok {
		return nil, failure.Usagef("invalid value %q for --replay; use llm, tools or all", f.what)
	}
	r := &recording{from: engine.Source{Layers: layers, OnDrift: how}}
	if err := r.read(c, f.from); err != nil {
		return nil, err
	}
	r.start, _ = runtime.ReadStart(r.records) // a recording may be a part of a run
	return r, nil
}

// read reads the recording with a name.
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

// callsModels reports whether a run that replays the recording, which may be nil,
// may call models.
func (r *recording) callsModels() bool { return r == nil || runs.CallsModels(&r.from) }

// journal returns the records of the recording; r may be nil.
func (r *recording) journal() []journal.Record {
	if r == nil {
		return nil
	}
	return r.records
}

// prices returns the prices that the recorded run started with.
func (r *recording) prices() map[string]model.Cost {
	if r == nil || r.start.Input.Origin == nil {
		return nil
	}
	return r.start.Input.Origin.Prices
}

// addFiles adds the files of the recorded run to the input of a replay that has none.
func (r *recording) addFiles(in *engine.Input) {
	if was := &r.start.Input; len(in.Files) == 0 {
		in.Files, in.FilesDir, in.Artifacts, in.Attachments = was.Files, was.FilesDir, was.Artifacts, was.Attachments
	}
}

// parameters returns the parameters of the recorded run that the program has, so
// that a replay need not repeat the question.
func (r *recording) parameters(p *engine.Program) ([]byte, error) {
	if r == nil {
		return nil, nil
	}
	return json.Marshal(runs.ParametersFor(p, r.start.Input.Parameters))
}

// explainMismatch shows how a request of the run differs from the recording, and
// how to record again.
func explainMismatch(c *ui.Call, in engine.Input, m *replay.Mismatch) {
	w := c.Stderr
	from := m.Recorded
	if from == "" {
		if from = m.Nearest(); from != "" {
			fmt.Fprintf(w, "The closest recorded request is %s:\n", from)
		}
	}
	for _, d := range m.Differences() {
		fmt.Fprint(w, ui.Safe(w, textdiff.Files("recorded "+d.What, d.Before, "now "+d.What, d.After)))
	}
	if m.Class == kernel.DriftExtra && from == "" && len(m.Request) > 0 && m.Model == nil {
		fmt.Fprintln(w, ui.Safe(w, "Requested: "+string(m.Request)))
	}
	if in.From.Until != 0 {
		fmt.Fprintf(w, "Fork from an earlier call (--at), or make the calls that differ live: --on-drift live\n")
		return
	}
	if spec := in.Origin; spec != nil {
		file := cmp.Or(in.From.File, "FILE")
		fmt.Fprintf(w, "To record again: pexctl run %s %s --record %s\nTo make the missing calls live: --on-drift live\n", fspath.Quote(spec.Spec), fspath.Quote(runs.Question(in)), fspath.Quote(file))
	}
}

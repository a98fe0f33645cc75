package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/providers/cassette"
)

// The words of --on-drift: what the recording lacks ends the run, as without the
// flag, or is performed.
const (
	driftFail = "fail"
	driftLive = "live"
)

// replayLayers are the words of --replay, and the layers they answer.
var replayLayers = map[string][]string{"llm": {engine.LayerLLM}, "tools": {engine.LayerTool}, "all": nil}

func replayFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "replay", Usage: "take the answers of `WHAT` from a recording: llm, tools or all"},
		&cli.StringFlag{Name: "from", Usage: "the recording: a `RUN` of this home (its id, the beginning of it, or last), or a cassette file"},
		driftFlag(),
	}
}

// source is a recording that a run replays.
type source struct {
	engine.Source
	records []journal.Record
	start   engine.Start // zero = the records have none
}

// sourceOf reads the recording that a run was asked to replay, or is nil; a RUN
// is one of the home of the spec.
func sourceOf(c *ui.Call) (*source, error) {
	what, from := c.String("replay"), c.String("from")
	how, err := onDrift(c)
	if err != nil {
		return nil, err
	}
	switch {
	case what == "" && from == "":
		if c.IsSet("on-drift") {
			return nil, failure.Usagef("--on-drift goes with --replay")
		}
		return nil, nil
	case what == "":
		return nil, failure.Usagef("--from %s: --replay llm, tools or all says what of it is replayed", from)
	case from == "":
		return nil, failure.Usagef("--replay %s: --from RUN or --from FILE says what is replayed", what)
	}
	layers, ok := replayLayers[what]
	if !ok {
		return nil, failure.Usagef("--replay %s: there are llm, tools and all", what)
	}
	s := &source{Source: engine.Source{Layers: layers, OnDrift: how}}
	if err := s.read(c, from); err != nil {
		return nil, err
	}
	s.start, _ = engine.ReadStart(s.records) // a recording may be a part of a run
	return s, nil
}

// read finds the recording of a name, and reads it.
func (s *source) read(c *ui.Call, from string) (err error) {
	if strings.ContainsAny(from, `/\`) || fspath.Exists(from) {
		if s.File, err = filepath.Abs(from); err != nil {
			return failure.Usagef("--from: %w", err)
		}
		s.records, err = sourceRecords(nil, &s.Source)
		return err
	}
	dir, err := homeOfSpec(c, c.Arg(0))
	if err != nil {
		return err
	}
	home, err := journal.OpenHome(dir, journal.Exit)
	if err != nil {
		return failure.Infra(err)
	}
	if s.Run, err = runNamed(c, dir, home, from); err != nil {
		return err
	}
	s.records, err = sourceRecords(home, &s.Source)
	return err
}

// prices are those that the recorded run began with.
func (s *source) prices() map[string]engine.Cost {
	if s == nil || s.start.Input.Origin == nil {
		return nil
	}
	return s.start.Input.Origin.Prices
}

// parameters are what the recorded run was given, of what the program takes: a
// replay need not be given the question again.
func (s *source) parameters(p *engine.Program) []byte {
	if s == nil {
		return nil
	}
	return takenBy(p, s.start.Input.Parameters)
}

// recording is what answers effects of a run besides the world, or nil.
func (s *session) recording(home *journal.Home) (*engine.Recording, error) {
	from := s.input.From
	if from == nil {
		return nil, nil
	}
	recs, err := sourceRecords(home, from)
	if err != nil {
		return nil, err
	}
	return s.recordingOf(recs), nil
}

// recordingOf is the records of the run's source as they answer effects.
func (s *session) recordingOf(recs []journal.Record) *engine.Recording {
	from := s.input.From
	o := engine.RecordingOptions{Until: from.Until, Layers: from.Layers, Live: from.OnDrift == driftLive}
	if from.File != "" {
		o.Secrets = secretsOf(s.program, s.host)
	}
	return engine.NewRecording(recs, o)
}

// sourceRecords reads a source; home is needed for a run.
func sourceRecords(home *journal.Home, from *engine.Source) ([]journal.Record, error) {
	if from.File != "" {
		recs, err := cassette.Load(from.File)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, failure.Usagef("--from: %w", err)
		}
		if err != nil {
			return nil, failure.Usagef("--from %s: %w", from.File, err)
		}
		return recs, nil
	}
	recs, err := home.Read(from.Run)
	if err != nil {
		return nil, unread(home, filepath.Dir(filepath.Dir(home.Folder(from.Run))), from.Run, err)
	}
	return recs, nil
}

// takenBy is what a program takes of the parameters that another was given.
func takenBy(p *engine.Program, given map[string]any) []byte {
	taken := map[string]any{}
	for _, q := range p.Parameters {
		if v, ok := given[q.Name]; ok {
			taken[q.Name] = v
		}
	}
	b, err := json.Marshal(taken)
	if err != nil {
		return nil
	}
	return b
}

// unplug takes the models away that a strict replay never calls: what is
// replayed touches no network.
func unplug(host *engine.Host, from *engine.Source) {
	if !callsModels(from) {
		host.Models = map[string]engine.Model{}
	}
}

// callsModels says that a run which a recording answers, or none, may call models.
// A fork is live where its recording ends.
func callsModels(from *engine.Source) bool {
	return from == nil || from.Until != 0 || from.OnDrift == driftLive ||
		len(from.Layers) > 0 && !slices.Contains(from.Layers, engine.LayerLLM)
}

// recordTo also writes the run's records to a cassette.
func (s *session) recordTo(path string) error {
	if path == "" {
		return nil
	}
	rec, err := cassette.New(s.file, path, secretsOf(s.program, s.host))
	if err != nil {
		return failure.Usagef("--record: %w", err)
	}
	s.journal = rec
	s.closes = append([]func() error{rec.Close}, s.closes...)
	return nil
}

// unusedNote says which recorded answers nobody asked for.
func unusedNote(paths []string) string {
	const shown = 5
	note := fmt.Sprintf("%d recorded answers were not asked for: %s", len(paths), strings.Join(paths[:min(len(paths), shown)], ", "))
	if len(paths) > shown {
		note += ", ..."
	}
	return note
}

// explainMiss shows what the recording holds in place of what was asked for,
// and how to record again.
func (s *session) explainMiss(m *engine.Miss) {
	w := s.c.Stderr
	from := m.Recorded
	if from == "" {
		if from = m.Nearest(); from != "" {
			fmt.Fprintf(w, "the nearest recorded request is that of %s\n", from)
		}
	}
	for _, d := range m.Differences() {
		fmt.Fprint(w, ui.Safe(w, textDiff("recorded "+d.What, d.Before, "now "+d.What, d.After)))
	}
	if m.Class == kernel.DriftExtra && from == "" && len(m.Request) > 0 && m.Model == nil {
		fmt.Fprintln(w, ui.Safe(w, "asked for: "+string(m.Request)))
	}
	if s.input.From.Until != 0 {
		fmt.Fprintf(w, "fork from an earlier place (--at), or take what differs live: --on-drift live\n")
		return
	}
	if spec := s.input.Origin; spec != nil {
		question, _ := s.input.Parameters["question"].(string)
		file := s.input.From.File
		if file == "" {
			file = "FILE"
		}
		fmt.Fprintf(w, "record again: pexctl run %s %s --record %s; or take what is missing live: --on-drift live\n", fspath.Quote(spec.Spec), fspath.Quote(question), fspath.Quote(file))
	}
}

package runs

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/secret"
)

// Env holds what a Service needs from outside the engine. Its functions must be safe for
// concurrent use.
type Env struct {
	// Compile compiles the program of a run from the source in its start record, with
	// additional overrides.
	Compile func(start engine.Start, set ...string) (*engine.Program, error)
	// Current compiles the current spec file of a run. It returns nil, nil if the file no
	// longer exists. A nil Current means that specs never change.
	Current func(origin *engine.Origin) (*engine.Program, error)
	// Connect returns a host with the models, tools and memory of a program. It must not
	// open any of them.
	Connect func(p *engine.Program, in engine.Input) (engine.Host, error)
	// Ready returns an error if a program that is about to call models lacks an API key.
	// Nil = not checked.
	Ready func(p *engine.Program, start engine.Start) error
	// Recording reads a recording from a file. Nil = recordings in files are not supported.
	Recording func(file string) ([]journal.Record, error)
	// Secrets returns the values that are redacted in recordings in files. Nil = none.
	Secrets func(p *engine.Program, h engine.Host) *secret.Values
	// Sinks returns sinks that receive the events of each session, beside those of its
	// observer. Nil = none.
	Sinks func(p *engine.Program, in *engine.Input) []engine.Sink
	// By returns who makes the decisions of this process, for the journal. Nil = unknown.
	By func() engine.Actor
	// ShareSyncs has sessions with durability Sync commit to one log: for a process that
	// executes many runs at once. It must call Service.Close.
	ShareSyncs bool
	// Committed is called with the time that each group of journal records took to become durable,
	// with durability Sync. It must not block. Nil = not measured.
	Committed func(time.Duration)
	// Version is the version of pexctl.
	Version string
	// Grace is how long calls in flight may continue after a session is suspended.
	Grace time.Duration
}

func (e *Env) by() engine.Actor {
	if e.By == nil {
		return engine.Actor{}
	}
	return e.By()
}

// Service manages the runs of one home. It is safe for concurrent use, and several
// processes may use the same home.
type Service struct {
	env   Env
	dir   string
	home  *journal.Home // for reading
	homes *homes
	ends  *endCache
	list  *listCache
}

// Open opens the home in a folder. It creates the folder if it does not exist.
func Open(dir string, env Env) (*Service, error) {
	home, err := journal.OpenHome(dir, journal.Exit)
	if err != nil {
		return nil, err
	}
	return &Service{env: env, dir: dir, home: home, homes: newHomes(dir, env.ShareSyncs, env.Committed), ends: &endCache{was: map[string]cachedEnd{}}, list: &listCache{}}, nil
}

// Close closes what sessions share. It must be called after the last session, and only of
// a service with ShareSyncs.
func (s *Service) Close() error { return s.homes.close() }

// As returns the same service for decisions that by makes.
func (s *Service) As(by engine.Actor) *Service {
	other := *s
	other.env.By = func() engine.Actor { return by }
	return &other
}

// Home returns the home that stores the runs.
func (s *Service) Home() *journal.Home { return s.home }

// Dir returns the folder of the home.
func (s *Service) Dir() string { return s.dir }

// records reads the journal of a run. The error is a *NotFoundError if there is no such
// run. If the journal is damaged, it returns the records before the damage and an error.
func (s *Service) records(run string) ([]journal.Record, error) {
	recs, err := s.home.Read(run)
	return recs, s.asNotFound(run, err)
}

// asNotFound returns a *NotFoundError for an error that wraps fs.ErrNotExist, and other
// errors unchanged.
func (s *Service) asNotFound(run string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &NotFoundError{Run: run, Dir: s.dir}
	}
	return err
}

// Read reads a run without locking it, and compiles its program.
func (s *Service) Read(run string) (*Run, error) {
	pid, held := s.home.Holder(run)
	recs, err := s.records(run)
	if err != nil {
		return nil, err
	}
	r, err := s.env.Restore(recs, nil)
	if r != nil {
		r.Running, r.PID = held && !r.Ended(), pid
		r.final = s.finalSummary(run)
	}
	return r, err
}

// Restore returns a run restored from its records. source is the program's source if the
// start record omits it, else nil. If compiling or connecting fails, it returns the
// incomplete run and an error.
func (e Env) Restore(recs []journal.Record, source json.RawMessage) (*Run, error) {
	start, err := runtime.ReadStart(recs)
	if err != nil {
		return nil, &StartError{err}
	}
	if source != nil {
		start.Program = source
	}
	if start.Input.Origin == nil { // a cassette copied into the home
		start.Input.Origin = &engine.Origin{}
	}
	r := &Run{Records: recs, Start: start, version: e.Version}
	if r.Program, err = e.Compile(start); err != nil {
		return r, fmt.Errorf("this version of pexctl cannot compile its program: %w", err)
	}
	r.Host, err = e.Connect(r.Program, start.Input)
	return r, err
}

// Source reads the recording that a run replays.
func (s *Service) Source(from *engine.Source) ([]journal.Record, error) {
	if from.File != "" {
		return s.env.Recording(from.File)
	}
	return s.records(from.Run)
}

// Question returns the question of a run.
func Question(in engine.Input) string {
	question, _ := in.Parameters["question"].(string)
	return question
}

// NewID returns the id of a new run. Ids sort by time: r-20260102-150405-1a2b3c4d.
func NewID(now time.Time) string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return now.UTC().Format(idTime) + hex.EncodeToString(b[:])
}

// StartOf returns the start of a run.
func (s *Service) StartOf(run string) (engine.Start, error) {
	recs, err := s.records(run)
	if err != nil {
		return engine.Start{}, err
	}
	start, err := runtime.ReadStart(recs)
	if err != nil {
		return start, &StartError{err}
	}
	return start, nil
}

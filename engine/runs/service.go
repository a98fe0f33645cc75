package runs

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/secret"
)

// Env is what the runs of a home need from outside the engine. Its functions
// are called from many goroutines.
type Env struct {
	// Compile compiles the program of a run again, from the source in its start
	// record, with further overrides.
	Compile func(start engine.Start, set ...string) (*engine.Program, error)
	// Current compiles the spec file of a run as it is now; nil without an error
	// means that there is no such file any more. Nil = specs never change.
	Current func(origin *engine.Origin) (*engine.Program, error)
	// Connect connects a program to models, tools and memory. It opens nothing.
	Connect func(p *engine.Program, in engine.Input) (engine.Host, error)
	// Ready refuses a program that is about to call models and cannot, for lack
	// of an API key. Nil = it is not checked.
	Ready func(p *engine.Program, start engine.Start) error
	// Recording reads the recording in a file. Nil = there are none in files.
	Recording func(file string) ([]journal.Record, error)
	// Secrets are the values that recordings in files hold replaced. Nil = none.
	Secrets func(p *engine.Program, h engine.Host) *secret.Values
	// By says who makes the decisions of this process. Nil = the journal does not say.
	By func() engine.Actor
	// Version of the program that runs them.
	Version string
	// Grace is how long calls in flight may continue once a session is suspended.
	Grace time.Duration
}

func (e *Env) by() engine.Actor {
	if e.By == nil {
		return engine.Actor{}
	}
	return e.By()
}

// Service is the runs of one home. It is safe for concurrent use, and many
// processes may work in one home.
type Service struct {
	env  Env
	dir  string
	home *journal.Home
}

// Open opens the home in a folder and makes the folder if there is none.
func Open(dir string, env Env) (*Service, error) {
	home, err := journal.OpenHome(dir, journal.Exit)
	if err != nil {
		return nil, err
	}
	return &Service{env: env, dir: dir, home: home}, nil
}

// Home returns the files of the runs.
func (s *Service) Home() *journal.Home { return s.home }

// Dir returns the folder of the home.
func (s *Service) Dir() string { return s.dir }

// records reads the journal of a run. The error is a *NotFoundError where there
// is no such run; what precedes a damage is returned beside the error.
func (s *Service) records(run string) ([]journal.Record, error) {
	recs, err := s.home.Read(run)
	return recs, s.missing(run, err)
}

// missing makes an error that means that there is no such run a *NotFoundError.
func (s *Service) missing(run string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &NotFoundError{Run: run, Dir: s.dir}
	}
	return err
}

// Read reads a run without locking it and compiles its program again.
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

// Restore makes a run of its records. source is that of the program where the
// start record leaves it out; nil = it does not. Beside an error of compiling or
// connecting the run is returned as far as it is known.
func (e Env) Restore(recs []journal.Record, source json.RawMessage) (*Run, error) {
	start, err := runtime.ReadStart(recs)
	if err != nil {
		return nil, &StartError{err}
	}
	if source != nil {
		start.Program = source
	}
	if start.Input.Origin == nil { // a cassette that was put into the home
		start.Input.Origin = &engine.Origin{}
	}
	r := &Run{Records: recs, Start: start, version: e.Version}
	if r.Program, err = e.Compile(start); err != nil {
		return r, fmt.Errorf("its program cannot be made again by this version of pexctl: %w", err)
	}
	r.Host, err = e.Connect(r.Program, start.Input)
	return r, err
}

// Source reads the recording that answers effects of a run.
func (s *Service) Source(from *engine.Source) ([]journal.Record, error) {
	if from.File != "" {
		return s.env.Recording(from.File)
	}
	return s.records(from.Run)
}

// Question is the question that a run was given.
func Question(in engine.Input) string {
	question, _ := in.Parameters["question"].(string)
	return question
}

// NewID returns the id of a new run. Ids sort by time: r-20260102-150405-1a2b3c4d.
func NewID(now time.Time) string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // it never fails
	return "r-" + now.UTC().Format("20060102-150405") + "-" + hex.EncodeToString(b[:])
}

// journalFile is the file of a run that its records are appended to.
func (s *Service) journalFile(run string) string {
	return filepath.Join(s.home.Folder(run), "journal.jsonl")
}

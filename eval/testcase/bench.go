package testcase

import (
	"context"
	"encoding/json"
	"time"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/eval/coverage"
	"github.com/pexctl/pex/eval/golden"
	"github.com/pexctl/pex/eval/trial"
)

// Bench builds models, tools, checks and cassettes for test cases. It is safe for
// concurrent use.
type Bench struct {
	// Host returns a host with tools that do not use the network, and models that need no
	// provider; others are left out.
	Host func(p *engine.Program, at Place) (engine.Host, error)
	// Live returns a host with real models and tools; nil = cassettes cannot be recorded.
	Live func(p *engine.Program, at Place, parameters map[string]any) (engine.Host, error)
	// Script builds a model from the replies of a case.
	Script func(config any, retry retry.Policy) (model.Model, error)
	// Load reads and verifies a cassette.
	Load func(path string) ([]journal.Record, error)
	// Recorder returns a journal that also records; Close writes the cassette.
	Recorder func(inner journal.Journal, path string, secrets *secret.Values) (Recorder, error)
	// Secrets returns the values redacted from a program's cassettes.
	Secrets func(p *engine.Program) *secret.Values
	Checks  trial.Checks
	// Settings are the settings of every check; name and folders are added.
	Settings trial.CheckSettings
	// Tolerate lists the classes of drift accepted in cassettes besides prompts.
	Tolerate    []drift.Class
	DisplayPath func(path string) string // formats a path for display; nil = relative to the project root
	Version     string                   // of the program
	Update      bool                     // accept changed goldens
}

// Place is where the tools of a program work.
type Place struct {
	Dir  string // the spec's folder
	Root string // the project root
	Spec string // the spec's file; "" = tools work in a copy
	Now  time.Time
	// Enter is called with each folder before a tool works in it; may be nil.
	Enter func(dir string) error
}

// Recorder is a journal that records.
type Recorder interface {
	journal.Journal
	Close() error
}

// Unit is a program under test with what its cases share. It is safe for concurrent use.
type Unit struct {
	Program *engine.Program
	File    string // of the spec, absolute
	Dir     string // its folder
	Root    string // the project root
	Sources []dsl.Source
	Options map[string]json.RawMessage // of llms, by name: what the spec sets that their provider alone has
	Host    engine.Host                // as Bench.Host makes it at given.Epoch
	Goldens *golden.Tree               // below Root
	Cover   *coverage.Map              // nil = coverage is not recorded
}

// place returns the folders that the unit's tools work in.
func (u *Unit) place(now time.Time) Place {
	return Place{Dir: u.Dir, Root: u.Root, Spec: u.File, Now: now}
}

// Run runs a case. ctx ends commands and tools that still run.
func Run(ctx context.Context, b *Bench, u *Unit, c *testspec.Case) *Outcome {
	t := newTry(b, u, c)
	defer func() { t.world.close() }() // prepare makes it
	if t.prepare() {
		t.render()
		t.play(ctx)
	}
	t.compare()
	t.retryUpdated(ctx)
	t.check(ctx)
	return t.outcome()
}

package testcase

import (
	"maps"

	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runtime/replay"
	"github.com/pexctl/pex/eval/golden"
	"github.com/pexctl/pex/eval/render"
	"github.com/pexctl/pex/eval/report"
)

// try is one case in progress.
type try struct {
	bench *Bench
	unit  *Unit
	c     *testspec.Case
	out   Outcome

	state      render.State
	view       engine.View // in the given state
	parameters map[string]any
	world      *world
	requests   requestRecorder
	result     *engine.Result // nil = nothing ran, or the run did not end regularly
	artefacts  []golden.Artifact
	partial    bool         // the case did not complete
	recorded   engine.Start // of its cassette
	whole      bool         // the cassette contains the end of its run
}

// Outcome is the outcome of a case.
type Outcome struct {
	report.TestResult
	Changes         []golden.Change // differences from the goldens; already accepted if Bench.Update is set
	Stale           *Stale          // nil = no request drifted, or there is no cassette
	MissingCassette bool            // the run needs a cassette, and there is none
}

// GoldenProblems returns how many of the problems accepting the changes would solve.
func (o *Outcome) GoldenProblems() int {
	n, missing := 0, 0
	for _, p := range o.Problems {
		if p.Kind == report.ProblemGolden {
			n++
		}
	}
	for _, ch := range o.Changes {
		if ch.Kind == golden.Missing {
			missing = 1 // all of them are one problem
		}
	}
	return n + missing
}

// Stale describes a cassette whose replies were used for requests that differ from the recorded ones.
type Stale struct {
	Cassette string
	Calls    []replay.Drifted // in call order
}

func newTry(b *Bench, u *Unit, c *testspec.Case) *try {
	t := &try{bench: b, unit: u, c: c}
	t.out.TestResult = report.TestResult{Name: c.Name, File: c.Position.File, Line: c.Position.Line}
	return t
}

// prepare reads the given state of the case. It returns false if that is invalid.
func (t *try) prepare() bool {
	var err error
	if t.state, err = render.Read(t.c.Given); err != nil {
		t.addError("given", err)
		return false
	}
	state := t.state
	state.Parameters = maps.Clone(t.state.Parameters)
	if state.Parameters == nil {
		state.Parameters = map[string]any{}
	}
	maps.Copy(state.Parameters, t.c.Parameters)
	if t.view, err = state.View(t.unit.Program, "", nil); err != nil {
		t.addError("parameters", err)
		return false
	}
	t.parameters = t.view.State.Parameters
	t.world = newWorld(t)
	return true
}

// outcome sets the status.
func (t *try) outcome() *Outcome {
	t.out.Status = report.TestPassed
	for _, p := range t.out.Problems {
		switch p.Kind {
		case report.ProblemError, report.ProblemReplay:
			t.out.Status = report.TestError
			return &t.out
		default:
			t.out.Status = report.TestFailed
		}
	}
	if t.out.Status == report.TestPassed && t.bench.Update && len(t.out.Changes) > 0 {
		t.out.Status = report.TestUpdated
	}
	return &t.out
}

// addError reports that something prevented the case from completing.
func (t *try) addError(where string, err error) {
	t.partial = true
	t.problem(report.Problem{Kind: report.ProblemError, Where: where, File: t.c.Position.File, Line: t.c.Position.Line, Message: err.Error()})
}

func (t *try) problem(p report.Problem) { t.out.Problems = append(t.out.Problems, p) }

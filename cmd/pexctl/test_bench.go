package main

import (
	"fmt"
	"time"

	"github.com/pexctl/pex/builtins/assertion"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/eval/testcase"
	"github.com/pexctl/pex/eval/trial"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/providers/cassette"
)

// checkKinds are the kinds of checks that tests and suites may name.
func checkKinds() trial.Checks { return assertion.All() }

// newTestBench is what cases are tried on.
func newTestBench(o *testOptions) *testcase.Bench {
	agent := "pexctl/" + buildVersion()
	return &testcase.Bench{
		Host: func(p *engine.Program, at testcase.Place) (engine.Host, error) {
			s := testHostSettings(at, o.allow)
			s.offline, s.noPrograms = true, o.noCommands
			return newHost(p, s)
		},
		Live: func(p *engine.Program, at testcase.Place, parameters map[string]any) (engine.Host, error) {
			s := testHostSettings(at, o.allow)
			s.parameters = parameters
			return newHost(p, s)
		},
		Script: func(config any, retry engine.RetryPolicy) (engine.Model, error) {
			f, ok := catalog().Models.Find(scriptedProvider)
			if !ok {
				return nil, fmt.Errorf("there is no provider %s", scriptedProvider)
			}
			return f.Build(config, engine.ModelSettings{Name: "the case", Retry: retry})
		},
		Load: cassette.Load,
		Recorder: func(inner journal.Journal, path string, secrets *secret.Values) (testcase.Recorder, error) {
			return cassette.New(inner, path, secrets)
		},
		Secrets:  func(p *engine.Program) *secret.Values { return secretsOf(p, engine.Host{Env: ui.Getenv}) },
		Checks:   checkKinds(),
		Settings: trial.CheckSettings{Env: ui.Getenv, UserAgent: agent, Guard: started.ready, NoPrograms: o.noCommands},
		Tolerate: o.allowed, Shown: fspath.Shown, Version: buildVersion(), Update: o.update,
	}
}

func testHostSettings(at testcase.Place, allow []string) hostSettings {
	s := hostSettings{catalog: catalog(), dir: at.Dir, root: at.Root, spec: at.Spec, allow: allow, env: ui.Getenv, enter: at.Enter}
	if !at.Now.IsZero() {
		s.now = func() time.Time { return at.Now }
	}
	return s
}

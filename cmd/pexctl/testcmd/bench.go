package testcmd

import (
	"fmt"
	"os"
	"time"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/eval/testcase"
	"github.com/pexctl/pex/eval/trial"
	"github.com/pexctl/pex/internal/app/catalog"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/pexctl/pex/internal/app/procguard"
	"github.com/pexctl/pex/internal/app/version"
	"github.com/pexctl/pex/providers/cassette"
)

// newTestBench returns the bench for the cases.
func newTestBench(components *catalog.Catalog, o *testOptions) *testcase.Bench {
	agent := version.UserAgent()
	return &testcase.Bench{
		Host: func(p *engine.Program, at testcase.Place) (engine.Host, error) {
			s := testHostSettings(components, at, o.allow)
			s.Offline, s.NoPrograms = true, o.noCommands
			return host.New(p, s)
		},
		Live: func(p *engine.Program, at testcase.Place, parameters map[string]any) (engine.Host, error) {
			s := testHostSettings(components, at, o.allow)
			s.Parameters = parameters
			return host.New(p, s)
		},
		Script: func(config any, retry retry.Policy) (model.Model, error) {
			f, ok := components.Models.Find(project.ScriptedProvider)
			if !ok {
				return nil, fmt.Errorf("unknown provider %s", project.ScriptedProvider)
			}
			return f.Build(config, model.Settings{Name: "the case", Retry: retry})
		},
		Load: cassette.Load,
		Recorder: func(inner journal.Journal, path string, secrets *secret.Values) (testcase.Recorder, error) {
			return cassette.New(inner, path, secrets)
		},
		Secrets:  func(p *engine.Program) *secret.Values { return host.Secrets(components, p, os.Getenv) },
		Checks:   components.Checks,
		Settings: trial.CheckSettings{Env: os.Getenv, UserAgent: agent, Guard: procguard.Watch, NoPrograms: o.noCommands},
		Tolerate: o.allowed, DisplayPath: fspath.Shown, Version: version.String(), Update: o.update,
	}
}

func testHostSettings(components *catalog.Catalog, at testcase.Place, allow []string) host.Settings {
	s := host.Settings{Catalog: components, Dir: at.Dir, Root: at.Root, Spec: at.Spec, Allow: allow, Env: os.Getenv, Enter: at.Enter}
	if !at.Now.IsZero() {
		s.Now = func() time.Time { return at.Now }
	}
	return s
}

//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/pricing"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/app/bundle"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/pexctl/pex/internal/app/version"
)

// Every spec of testdata/run and testdata/compile, every sample and the examples of diagnostics are
// packed and compiled on another machine: in another folder, with the spec's folder deleted.
func TestBundlesCompileToTheSameProgram(t *testing.T) {
	packed := 0
	for _, pattern := range []string{"../../testdata/run/*.txtar", "../../testdata/compile/*.txtar"} {
		goldentest.Each(t, pattern, func(t *testing.T, a *goldentest.Archive) {
			dir := t.TempDir()
			a.Extract(t, dir)
			packed += moveSpecs(t, dir)
		})
	}
	samples, err := filepath.Glob("../../specs/*/spec.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, sample := range samples {
		t.Run("specs "+filepath.Base(filepath.Dir(sample)), func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(filepath.Dir(sample))); err != nil {
				t.Fatal(err)
			}
			packed += moveSpecs(t, dir)
		})
	}
	t.Run("diagnostics", func(t *testing.T) {
		for _, code := range diag.Codes() {
			dir := t.TempDir()
			for _, f := range code.Right.Files {
				write(t, filepath.Join(dir, filepath.FromSlash(f.Name)), f.Text)
			}
			packed += moveSpecs(t, dir)
		}
	})
	if t.Logf("%d programs", packed); packed < 400 {
		t.Errorf("only %d programs compiled", packed)
	}
}

// moveSpecs packs the specs of a folder, deletes it and opens the bundles in another one. It
// returns their number.
func moveSpecs(t *testing.T, dir string) int {
	t.Helper()
	specs, _, err := specfs.Walk(dir)
	if err != nil {
		t.Fatal(err)
	}
	type packed struct {
		program *engine.Program
		bytes   []byte
	}
	var all []packed
	for _, spec := range specs {
		p, origin := compiled(t, spec, nil)
		if p == nil {
			continue // an include, or a spec that is wrong
		}
		b, err := bundle.Pack(p, origin)
		if err != nil {
			t.Fatalf("%s: %v", spec, err)
		}
		if strings.Contains(string(b), filepath.Dir(dir)) {
			t.Errorf("%s: the bundle contains a path of this machine", spec)
		}
		all = append(all, packed{p, b})
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		opened, err := bundle.Open(one.bytes, bundle.ID(one.bytes), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		p, err := opened.Compile(components())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(compared(one.program), compared(p)); d != "" {
			t.Errorf("%s is another program on another machine (-here +there):\n%s", p.Name, d)
		}
	}
	return len(all)
}

// compiled compiles a spec; the program is nil if it has errors.
func compiled(t *testing.T, spec string, allow []string) (*engine.Program, *engine.Origin) {
	t.Helper()
	o := components().Options()
	o.Prices, o.AllowPaths = pricing.Known(), allow
	p, s, found := dsl.Compile(spec, o)
	if found.Failed() {
		return nil, nil
	}
	return p, &engine.Origin{Spec: s.Path(), Dir: s.Dir, Root: s.Root, Allow: allow, Prices: o.Prices.Used()}
}

// compared is what two programs have in common if runs of them are the same. Warnings are for the
// author: comments of the spec suppress some of them.
func compared(p *engine.Program) any {
	type node struct {
		ID, Type string
	}
	out := struct {
		Digest, Name, File string
		Source             string
		Unpriced           []string
		Prompts            []engine.Prompt
		Limits             engine.Limits
		Memory             engine.MemorySettings
		Nodes              []node
		Models             []any
		Tools              []any
		Agents             []any
	}{Digest: p.Digest, Name: p.Name, File: p.File, Source: string(p.Source), Unpriced: p.Unpriced, Prompts: p.Prompts, Limits: p.Limits}
	out.Memory = p.Memory
	out.Memory.Compaction = engine.Compaction{}
	for _, n := range p.Graph.Nodes {
		out.Nodes = append(out.Nodes, node{n.ID, n.Type})
	}
	for _, m := range p.Models {
		out.Models = append(out.Models, []any{m.Name, m.Path, m.Provider, m.BaseURL.Text, m.Params, m.Cost, m.Fallback, m.RateLimit})
	}
	for _, x := range p.Tools {
		out.Tools = append(out.Tools, []any{x.Name, x.Type, x.Effect, x.Host, x.Description, x.Approval.Source})
	}
	for _, a := range p.Agents {
		out.Agents = append(out.Agents, compared(a))
	}
	return out
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const recordedSpec = `apiVersion: pex/v1
kind: Agent
metadata: {name: recorded}
llms: {main: {provider: scripted, model: m, options: {replies: [{text: '{"steps": ["Ask the helper."]}'}, {tool_calls: [{name: helper, arguments: {question: "the way?"}}]}, {text: "To the left."}, {text: '{"result": "Left."}'}]}}}
tools: {helper: {type: agent, ref: ../shared/helper.yaml}}
`

const recordedHelper = `apiVersion: pex/v1
kind: Agent
metadata: {name: helper}
llms: {main: {provider: cassette, options: {file: tapes/helper.jsonl}}}
planner: {planner_prompt: {file: prompt.md}}
`

// An agent outside of the project, a prompt, and a recording that a provider reads when it is called.
func TestBundleWithRecordingOfForeignAgent(t *testing.T) {
	top := realPath(t, t.TempDir())
	shared, spec := filepath.Join(top, "shared"), filepath.Join(top, "desk", "spec.yaml")
	write(t, filepath.Join(shared, "prompt.md"), "Answer at once.")
	write(t, filepath.Join(shared, "tapes", "README.md"), "Recordings.")
	write(t, filepath.Join(shared, "helper.yaml"), strings.NewReplacer("provider: cassette, options: {file: tapes/helper.jsonl}",
		`provider: scripted, options: {replies: [{text: '{"result": "To the left."}'}]}`).Replace(recordedHelper))
	printed(t, 0, "run", filepath.Join(shared, "helper.yaml"), "the way?", "--home", t.TempDir(), "--record", filepath.Join(shared, "tapes", "helper.jsonl"))
	write(t, filepath.Join(shared, "helper.yaml"), recordedHelper)
	write(t, spec, recordedSpec)
	home := t.TempDir()
	if got := printed(t, 0, "run", spec, "Where?", "--home", home, "--run-id", "r", "--allow-path", shared); got != "Left.\n" {
		t.Fatalf("printed %q", got)
	}
	h, err := journal.OpenHome(home, journal.Exit)
	if err != nil {
		t.Fatal(err)
	}
	recs, err := h.Read("r")
	if err != nil {
		t.Fatal(err)
	}
	run, err := project.RunsEnv(callOf(streams{}), home).Restore(recs, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, there, _ := moved(t, run, home, "")
	if err := os.RemoveAll(top); err != nil {
		t.Fatal(err)
	}
	there.Memory = nil
	res := runtime.Run(t.Context(), p, run.Start.Input, there, runtime.Options{Journal: &mortal{left: -1}, Virtual: true, Version: version.String()})
	if res.Response != "Left." || len(res.Steps) != 1 || res.Steps[0].Result != "To the left." {
		t.Errorf("%s %+v %s", res.Response, res.Steps, res.Error)
	}
}

// A worker of another version does not run another program without saying so.
func TestBundleOfAnotherVersion(t *testing.T) {
	spec := filepath.Join(t.TempDir(), "spec.yaml")
	write(t, spec, "apiVersion: pex/v1\nkind: Agent\nmetadata: {name: demo}\nllms: {main: {provider: scripted, options: {replies: [{text: done}]}}}\n")
	p, origin := compiled(t, spec, nil)
	b, err := bundle.Pack(p, origin)
	if err != nil {
		t.Fatal(err)
	}
	newer := strings.Replace(string(p.Source), `"kind"`, `"novel":1,"kind"`, 1)
	tests := map[string]struct{ replace []string }{
		"other prompts":    {[]string{`"built_in":"sha256:`, `"built_in":"sha257:`}},
		"a key of its own": {[]string{string(p.Source), newer, p.Digest, specfs.Digest([]byte(newer)), fmt.Sprintf(`"program":%d`, len(p.Source)), fmt.Sprintf(`"program":%d`, len(newer))}},
	}
	for name, tt := range tests {
		changed := []byte(strings.NewReplacer(append(tt.replace, `"version":"`+version.String(), `"version":"9.9.9`)...).Replace(string(b)))
		opened, err := bundle.Open(changed, bundle.ID(changed), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		_, err = opened.Compile(components())
		if e, ok := errors.AsType[*bundle.BuildError](err); !ok || e.Packed != "9.9.9" || e.Own != version.String() {
			t.Errorf("%s: %v", name, err)
		} else {
			t.Log(err)
		}
	}
}

// realPath returns a path without links.
func realPath(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Runs of testdata/run have the same journal if their programs come from bundles, with the folder of
// the spec deleted, and their effects are performed elsewhere. Tools that need the files of a machine
// find them in a copy of the folder.
func TestRunsOfBundlesHaveTheSameJournal(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	pattern, err := filepath.Abs("../../testdata/run/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	all, bound, cases := 0, 0, 0
	goldentest.Each(t, pattern, func(t *testing.T, a *goldentest.Archive) {
		if cases++; testing.Short() && cases%10 != 0 {
			t.Skip("every tenth case with -short")
		}
		if why := skipReason(t, a); why != "" {
			t.Skip(why)
		}
		home, dir := t.TempDir(), t.TempDir()
		t.Setenv("PEX_HOME", home)
		here := &lives{t: t, archive: a, dir: dir}
		here.record(home)
		there := &lives{t: t, archive: a, dir: t.TempDir()}
		for i, start := range here.starts {
			own := *start
			var needsHost bool
			own.Program, own.Host, needsHost = moved(t, start, home, there.dir)
			there.starts = append(there.starts, &own)
			all++
			if needsHost {
				bound++
			}
			want := &mortal{left: -1}
			t.Chdir(here.dir)
			here.live(i, here.before(i), want)
			here.empty()
			got := &mortal{left: -1, oneByOne: true}
			t.Chdir(there.dir)
			there.live(i, there.before(i), got)
			if d := cmp.Diff(string(lines(t, want.Records)), string(lines(t, got.Records))); d != "" {
				t.Errorf("run %d of the case has another journal on another machine (-here +there):\n%s", i+1, d)
			}
		}
	})
	t.Logf("%d runs, %d of them with tools of one machine", all, bound)
}

// moved returns the program of a run from its bundle, connected as on a machine that has a copy
// of the project in a folder if its tools need one.
func moved(t *testing.T, r *runs.Run, home, copied string) (*engine.Program, engine.Host, bool) {
	t.Helper()
	b, err := bundle.Pack(r.Program, r.Start.Input.Origin)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := bundle.Open(b, bundle.ID(b), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p, err := opened.Compile(components())
	if err != nil {
		t.Fatal(err)
	}
	origin, needsHost := opened.Origin(r.Start.Input.Origin), usesMachine(p)
	if needsHost {
		if origin, err = opened.OriginIn(r.Start.Input.Origin, copied, nil); err != nil {
			t.Fatal(err)
		}
	}
	h, err := host.New(p, host.SettingsOf(components(), origin, home, r.Start.Input.Parameters))
	if err != nil {
		t.Fatal(err)
	}
	h.Tools = stopped(h.Tools)
	return p, h, needsHost
}

// usesMachine reports whether a tool of a program, or of its agents, needs one machine.
func usesMachine(p *engine.Program) bool {
	for i := range p.Tools {
		if c, ok := p.Tools[i].Config.(tool.HostBound); ok && c.NeedsHost() != "" {
			return true
		}
	}
	return slices.ContainsFunc(p.Agents, usesMachine)
}

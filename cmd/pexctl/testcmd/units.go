package testcmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/eval/coverage"
	"github.com/pexctl/pex/eval/golden"
	"github.com/pexctl/pex/eval/render"
	"github.com/pexctl/pex/eval/testcase"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
)

// testUnits are the programs under test, each compiled and connected once.
type testUnits struct {
	bench    *testcase.Bench
	programs *dsl.Programs
	cover    bool
	byKey    map[string]*testUnit
	order    []*testUnit
	trees    map[string]*goldenTree
	read     []string // files of specs and tests, absolute
}

// testUnit is a program under test.
type testUnit struct {
	*testcase.Unit
	name string // of the spec, for output
	spec *dsl.Spec
}

// goldenTree is the set of golden files below a project root.
type goldenTree struct {
	*golden.Tree
	root string
}

func newTestUnits(b *testcase.Bench, p *dsl.Programs, covered bool) *testUnits {
	return &testUnits{bench: b, programs: p, cover: covered, byKey: map[string]*testUnit{}, trees: map[string]*goldenTree{}}
}

// unitFor returns the unit of a case: its spec with its overrides. Diagnostics are
// returned once.
func (t *testUnits) unitFor(c *testspec.Case) (*testUnit, diag.List, error) {
	key := c.Spec + "\x00" + strings.Join(c.Set, "\x00")
	if u := t.byKey[key]; u != nil {
		return u, nil, nil
	}
	p, spec, found := t.programs.Compile(c.Spec, c.Set)
	if p == nil {
		return nil, found, nil
	}
	u := &testUnit{Unit: &testcase.Unit{Program: p, File: spec.File, Dir: spec.Dir, Root: spec.Root, Sources: spec.Sources(), Options: llmOptions(spec, p)}, name: shownSpec(spec.Path()), spec: spec}
	var err error
	if u.Host, err = t.bench.Host(p, testcase.Place{Dir: u.Dir, Root: u.Root, Spec: u.File, Now: render.Epoch}); err != nil {
		return nil, nil, failure.Usagef("%s: %w", u.name, err)
	}
	if u.Goldens, err = t.tree(u.Root); err != nil {
		return nil, nil, err
	}
	if t.cover {
		tools, _, err := runtime.Tools(context.Background(), p, engine.Input{RunID: "tools", Parameters: project.DefaultParameters(p)}, u.Host)
		if err != nil {
			return nil, nil, failure.Usagef("%s: %w", u.name, err)
		}
		u.Cover = coverage.New(u.name, p, namesOf(tools))
	}
	t.read = append(t.read, spec.Files...)
	t.byKey[key] = u
	t.order = append(t.order, u)
	return u, nil, nil
}

// llmOptions returns the provider options of each LLM. Options of scripted models
// define the replies, so they are left out.
func llmOptions(spec *dsl.Spec, p *engine.Program) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for i := range p.Models {
		m := &p.Models[i]
		if v := spec.LLM(m.Name).Get("options"); len(v.Entries()) > 0 && !m.Offline() {
			out[m.Name] = v.JSON()
		}
	}
	return out
}

func namesOf(tools []runtime.BoundTool) []string {
	var out []string
	for _, info := range runtime.ToolInfos(tools) {
		out = append(out, info.Name)
	}
	return out
}

func (t *testUnits) tree(root string) (*golden.Tree, error) {
	if tree := t.trees[root]; tree != nil {
		return tree.Tree, nil
	}
	tree, err := golden.Open(root, inCI())
	if err != nil {
		return nil, failure.Infra(err)
	}
	t.trees[root] = &goldenTree{tree, root}
	return tree, nil
}

// excludeFiles registers the files that are not golden files.
func (t *testUnits) excludeFiles() {
	for _, tree := range t.trees {
		tree.ExcludeInputs(t.read...)
	}
}

func (t *testUnits) sortedTrees() []*goldenTree {
	var out []*goldenTree
	for _, tree := range t.trees {
		out = append(out, tree)
	}
	slices.SortFunc(out, func(a, b *goldenTree) int { return cmp.Compare(a.root, b.root) })
	return out
}

func (t *testUnits) close() {
	var errs []error
	for _, tree := range t.trees {
		errs = append(errs, tree.Close())
	}
	_ = errors.Join(errs...) // nothing unsaved is left to close
}

// coverageReports returns the coverage, a report per spec.
func (t *testUnits) coverageReports() []coverage.Report {
	var out []coverage.Report
	for _, u := range t.order {
		if u.Cover != nil {
			out = append(out, u.Cover.Report())
		}
	}
	return coverage.Join(out)
}

// shownSpec returns a spec in the form for output: its path relative to the
// working folder, or its folder for a spec.yaml elsewhere.
func shownSpec(file string) string {
	shown := fspath.Shown(file)
	if dir := filepath.ToSlash(filepath.Dir(shown)); dir != "." && filepath.Base(shown) == "spec.yaml" {
		return dir
	}
	return shown
}

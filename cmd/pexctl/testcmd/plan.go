package testcmd

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine/lockfile"
	"github.com/pexctl/pex/eval/testcase"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
)

// testPlan holds the cases to run, with what they need.
type testPlan struct {
	bench         *testcase.Bench
	units         *testUnits
	cases         []plannedCase
	files         []string // files with tests, absolute
	completeSpecs []string // specs, absolute, all of whose tests are included
}

// plannedCase is a case with its program.
type plannedCase struct {
	testspec.Case
	unit *testUnit
}

func (p *testPlan) close() { p.units.close() }

// planTests finds the cases of the paths, loads them and compiles their specs.
func planTests(c *ui.Call, o *testOptions) (*testPlan, error) {
	options := testSpecOptions(c)
	files, whole, err := testFiles(c.Args, options)
	if err != nil {
		return nil, err
	}
	c.RecordRead(files...)
	for _, spec := range whole {
		c.RecordRead(spec, filepath.Join(filepath.Dir(spec), "tests")) // new cases are added there
	}
	if len(files) == 0 {
		return nil, noTestsError(c, whole, options)
	}
	p := &testPlan{bench: newTestBench(c.Catalog, o)}
	p.units = newTestUnits(p.bench, options.Programs, o.cover)
	var cases []testspec.Case
	var found diag.List
	for _, file := range files {
		tests, list := dsl.LoadTests(file, options)
		found = append(found, list...)
		if tests != nil {
			cases = append(cases, tests.Cases...)
			p.units.read = append(p.units.read, tests.Files...)
		}
		p.files = append(p.files, fspath.Real(file))
	}
	for _, spec := range whole {
		p.completeSpecs = append(p.completeSpecs, fspath.Real(spec))
	}
	if err := ui.ShowDiagnostics(c, found.Sort()); err != nil {
		return nil, err
	}
	if p.cases, err = o.selectCases(c, cases, files, p.units); err != nil {
		p.close()
		return nil, err
	}
	p.registerCases()
	p.recordRead(c)
	return p, nil
}

// recordRead records the files that the cases compare with and replay.
func (p *testPlan) recordRead(c *ui.Call) {
	for i := range p.cases {
		k := &p.cases[i]
		if k.Golden != "" {
			c.RecordRead(k.Golden)
		}
		if k.Run != nil && k.Run.Cassette != "" {
			c.RecordRead(k.Run.Cassette)
		}
	}
}

// checkTrust asks whether to trust foreign parts of the specs whose cases run tools;
// rendering starts nothing.
func (p *testPlan) checkTrust(c *ui.Call) error {
	for _, u := range p.units.order {
		if !slices.ContainsFunc(p.cases, func(k plannedCase) bool { return k.unit == u && k.Run != nil }) {
			continue
		}
		if err := project.CheckTrust(c, u.spec, project.HomeOf(c, u.Root)); err != nil {
			return err
		}
	}
	return nil
}

// registerCases registers the cases with the golden files, in order. Invalid ones are
// reported when they are compared.
func (p *testPlan) registerCases() {
	p.units.excludeFiles()
	for i := range p.cases {
		if k := &p.cases[i]; k.Golden != "" {
			_ = k.unit.Goldens.Announce(testcase.Owner(&k.Case), k.Golden)
		}
	}
}

func testSpecOptions(c *ui.Call) dsl.Options {
	o := c.Catalog.Options()
	o.Root, o.AllowPaths, o.Prices, o.Pins = c.Root, c.AllowPaths, c.Prices(), lockfile.Read
	o.Read = c.ReadTracked
	o.Programs = dsl.NewPrograms(o) // each spec is compiled once, for all its cases
	return o
}

// selectCases compiles the specs of the selected cases.
func (o *testOptions) selectCases(c *ui.Call, cases []testspec.Case, files []string, units *testUnits) ([]plannedCase, error) {
	if len(cases) == 0 {
		return nil, failure.Usagef("no tests found: %s", noTests(files))
	}
	cases = slices.DeleteFunc(cases, func(k testspec.Case) bool { return !o.matches(k.Name) })
	if len(cases) == 0 {
		return nil, failure.WithHintf(failure.Usagef("no case matches --run %s", fspath.Quote(o.only.String())), "pexctl test --list lists the cases")
	}
	var out []plannedCase
	var found diag.List
	for i, k := range cases {
		if !o.shard.contains(i) {
			continue
		}
		u, list, err := units.unitFor(&k)
		if err != nil {
			return nil, err
		}
		found = append(found, list...)
		out = append(out, plannedCase{k, u})
	}
	return out, ui.ShowDiagnostics(c, found.Sort())
}

// firstTest is a test to start with.
const firstTest = `
  tests:
    - name: plans a sum
      parameters: {question: "What is 17% of 2349.50?"}
      render: planner    # its prompt, held against a golden file: pexctl test --update writes it`

func noTests(files []string) string {
	where := "add tests: to a spec"
	if len(files) == 1 {
		where = files[0] + " has none; add tests: to the spec"
	}
	return where + ", a file of kind: Tests beside it, or tests/NAME/case.yaml (see pexctl test --help). For example:" + firstTest
}

// testFiles returns the files with tests for paths, and the specs all of whose
// tests are included.
func testFiles(paths []string, o dsl.Options) (files, whole []string, err error) {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	seen := map[string]bool{}
	add := func(list ...string) {
		for _, f := range list {
			if at := fspath.Real(f); !seen[at] {
				seen[at] = true
				files = append(files, f)
			}
		}
	}
	for _, path := range paths {
		specs, tests, err := pathTests(path)
		if err != nil {
			return nil, nil, err
		}
		for _, spec := range specs {
			of, err := specfs.FindTests(spec, o.Root)
			if err != nil {
				return nil, nil, failure.Usagef("%w", err)
			}
			add(of...)
			whole = append(whole, spec)
		}
		add(tests...)
	}
	return files, whole, nil
}

// noTestsError explains why no tests were found. A spec that cannot be read may have
// tests, so its diagnostics come first.
func noTestsError(c *ui.Call, specs []string, o dsl.Options) error {
	var found diag.List
	for _, spec := range specs {
		_, list := dsl.Load(spec, o)
		found = append(found, list...)
	}
	if found.Failed() {
		return ui.ShowDiagnostics(c, found.Sort())
	}
	paths := cmp.Or(strings.Join(c.Args, " "), ".")
	return failure.Usagef("no tests found in %s: %s", paths, noTests(nil))
}

// pathTests returns the specs (with all their tests) and the files of tests for
// one path.
func pathTests(path string) (specs, tests []string, err error) {
	if dir, ok := strings.CutSuffix(path, "..."); ok && (dir == "" || strings.HasSuffix(dir, "/")) {
		dir = filepath.Clean(dir)
		specs, tests, err = specfs.Walk(dir)
		if err != nil {
			return nil, nil, failure.Usagef("%s: %w", path, err)
		}
		return specs, tests, nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if fspath.Exists(filepath.Join(path, "case.yaml")) {
			return nil, []string{filepath.Join(path, "case.yaml")}, nil
		}
		path = filepath.Join(path, "spec.yaml")
	}
	kind, err := specfs.Kind(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil, failure.WithHintf(failure.Usagef("%s does not exist", path), "pass a spec, a test or a folder that contains a spec.yaml or case.yaml; DIR/... means everything below DIR")
	case err != nil:
		return nil, nil, failure.Usagef("%w", err)
	case kind == "Suite":
		return nil, nil, failure.Usagef("%s is a suite; run it with pexctl eval", path)
	case kind == "Tests":
		return nil, []string{path}, nil
	}
	return []string{path}, nil, nil
}

package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/eval/golden"
	"github.com/pexctl/pex/eval/testcase"
)

// testPlan is the cases that are to run, and what they run on.
type testPlan struct {
	bench   *testcase.Bench
	units   *testUnits
	cases   []plannedCase
	folders map[string][]string // by spec: golden folders that cases of the past may have left
}

// plannedCase is a case and the program it is of.
type plannedCase struct {
	dsl.Case
	unit *testUnit
}

func (p *testPlan) close() { p.units.close() }

// planTests finds the cases of the paths, loads them and compiles what they
// are of.
func planTests(c *cli.Context, o *testOptions) (*testPlan, error) {
	options := testSpecOptions(c)
	files, whole, err := testFiles(c.Args().Slice(), options)
	if err != nil {
		return nil, err
	}
	var cases []dsl.Case
	var found diag.List
	for _, file := range files {
		tests, list := dsl.LoadTests(file, options)
		found = append(found, list...)
		if tests != nil {
			cases = append(cases, tests.Cases...)
		}
	}
	if err := show(c, found.Sort()); err != nil {
		return nil, err
	}
	p := &testPlan{bench: newTestBench(o), folders: map[string][]string{}}
	p.units = newTestUnits(p.bench, options.Programs, o.cover)
	if p.cases, err = o.chosen(c, cases, files, p.units); err != nil {
		p.close()
		return nil, err
	}
	for _, spec := range whole {
		p.folders[spec] = goldenFolders(spec)
	}
	return p, nil
}

func testSpecOptions(c *cli.Context) dsl.Options {
	o := dsl.Options{Catalog: catalog(), Checks: checkKinds().Blueprints("check"), Root: c.String("root")}
	o.Programs = dsl.NewPrograms(o) // each spec is compiled once, for all its cases
	return o
}

// chosen compiles what the cases are of that are to run.
func (o *testOptions) chosen(c *cli.Context, cases []dsl.Case, files []string, units *testUnits) ([]plannedCase, error) {
	if len(cases) == 0 {
		return nil, usage("there are no tests: %s", noTests(files))
	}
	cases = slices.DeleteFunc(cases, func(k dsl.Case) bool { return !o.matches(k.Name) })
	if len(cases) == 0 {
		return nil, usage("no case is called like --run %s (pexctl test --list lists them)", quoted(o.only.String()))
	}
	var out []plannedCase
	var found diag.List
	for i, k := range cases {
		if !o.shard.takes(i) {
			continue
		}
		u, list, err := units.of(&k)
		if err != nil {
			return nil, err
		}
		found = append(found, list...)
		out = append(out, plannedCase{k, u})
	}
	return out, show(c, found.Sort())
}

func noTests(files []string) string {
	if len(files) == 1 {
		return files[0] + " has none; write tests: in the spec, a file of kind: Tests beside it, or tests/NAME/case.yaml"
	}
	return "write tests: in a spec, a file of kind: Tests beside it, or tests/NAME/case.yaml"
}

// testFiles are the files with tests that paths stand for, and the specs of
// which these are all.
func testFiles(paths []string, o dsl.Options) (files, whole []string, err error) {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	add := func(list ...string) {
		for _, f := range list {
			if !slices.Contains(files, f) {
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
			of, err := dsl.FindTests(spec, o)
			if err != nil {
				return nil, nil, usage("%w", err)
			}
			add(of...)
			whole = append(whole, absolute(spec))
		}
		add(tests...)
	}
	if len(files) == 0 {
		return nil, nil, usage("there are no tests in %s: %s", strings.Join(paths, " "), noTests(nil))
	}
	return files, whole, nil
}

// pathTests is what one path stands for: specs with all their tests, and
// further files of tests.
func pathTests(path string) (specs, tests []string, err error) {
	if dir, ok := strings.CutSuffix(path, "..."); ok && (dir == "" || strings.HasSuffix(dir, "/")) {
		dir = filepath.Clean(dir)
		specs, tests, err = dsl.Walk(dir)
		if err != nil {
			return nil, nil, usage("%s: %w", path, err)
		}
		return specs, tests, nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if exists(filepath.Join(path, "case.yaml")) {
			return nil, []string{filepath.Join(path, "case.yaml")}, nil
		}
		path = filepath.Join(path, "spec.yaml")
	}
	kind, err := dsl.Kind(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil, usage("there is no %s (a folder means its spec.yaml or case.yaml; DIR/... means everything below)", path)
	case err != nil:
		return nil, nil, usage("%w", err)
	case kind == "Suite":
		return nil, nil, usage("%s is a suite: pexctl eval runs it", path)
	case kind == "Tests":
		return nil, []string{path}, nil
	}
	return []string{path}, nil, nil
}

// goldenFolders are the folders in which the cases of a spec keep goldens by
// default, those of cases that are gone among them.
func goldenFolders(spec string) []string {
	found, err := filepath.Glob(filepath.Join(filepath.Dir(spec), "tests", "*", "golden"))
	if err != nil {
		return nil // a spec's folder with a bracket in its name: only what cases use is looked at
	}
	return found
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// unused are the goldens that no case of the plan asks for.
func (p *testPlan) unused() ([]golden.Change, error) {
	var out []golden.Change
	for _, t := range p.units.sortedTrees() {
		var folders []string
		for spec, list := range p.folders {
			if strings.HasPrefix(spec, t.root+string(filepath.Separator)) {
				folders = append(folders, list...)
			}
		}
		slices.Sort(folders)
		more, err := t.Unused(folders...)
		if err != nil {
			return nil, infra(err)
		}
		out = append(out, more...)
	}
	return out, nil
}

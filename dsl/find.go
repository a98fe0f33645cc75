package dsl

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// FindTests lists the files with tests for a spec (a folder means its
// spec.yaml), sorted: the spec itself if tests stand in it; files of kind: Tests
// beside it and in tests/ beside it; and each tests/<case>/case.yaml. Those that
// name another spec are left out. Paths are as the spec's is written.
func FindTests(spec string, o Options) ([]string, error) {
	spec = inFolder(spec, defaultFile)
	own, err := readHeader(spec)
	if err != nil {
		return nil, err
	}
	var out []string
	if own.Kind == kindAgent && own.Tests {
		out = append(out, spec)
	}
	dir := filepath.Dir(spec)
	files, err := listed(dir, filepath.Join(dir, "tests"))
	if err != nil {
		return nil, err
	}
	cases, err := filepath.Glob(filepath.Join(globbed(dir), "tests", "*", caseFile))
	if err != nil {
		return nil, err
	}
	for _, path := range append(files, cases...) {
		if path != spec && testsOf(path, o) == absolute(spec) {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// listed lists the YAML files of folders, of those that exist.
func listed(dirs ...string) ([]string, error) {
	var out []string
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		for _, e := range entries {
			if isYAML(e.Name()) && !e.IsDir() {
				out = append(out, filepath.Join(dir, e.Name()))
			}
		}
	}
	return out, nil
}

func isYAML(name string) bool {
	ext := filepath.Ext(name)
	return (ext == ".yaml" || ext == ".yml") && !strings.HasPrefix(name, ".")
}

// globbed is a folder for a pattern: what has a meaning there stands for itself.
func globbed(dir string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(dir)
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// testsOf is the absolute path of the spec that a file of tests is of; "" = it
// is no such file, or none is near.
func testsOf(path string, o Options) string {
	h, err := readHeader(path)
	if err != nil || h.Kind != kindTests {
		return ""
	}
	dir := filepath.Dir(absolute(path))
	if h.Spec != "" {
		return inFolder(filepath.Join(dir, filepath.FromSlash(h.Spec)), defaultFile)
	}
	f := &files{root: rootOfTests(dir)}
	if o.Root != "" {
		f.root = absolute(o.Root)
	}
	return nearestSpec(f, foldersOfSpec(dir, f.root, filepath.Base(path) == caseFile && !h.Tests))
}

// foldersOfSpec are the folders in which the spec of tests is looked for: of a
// case those above it, of other files their own and the one above.
func foldersOfSpec(dir, root string, own bool) []string {
	if !own {
		return []string{dir, filepath.Dir(dir)}
	}
	var above []string
	for dir != root && filepath.Dir(dir) != dir {
		dir = filepath.Dir(dir)
		above = append(above, dir)
	}
	return above
}

// Walk lists the specs and the files with tests below a folder, both sorted:
// files of kind: Agent; and those of kind: Tests with every case.yaml. Hidden
// folders and node_modules are passed over, and so is what cannot be read.
func Walk(dir string) (specs, tests []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path == dir:
			return err
		case err != nil:
			return nil
		case d.IsDir() && path != dir && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return fs.SkipDir
		case !d.Type().IsRegular() || !isYAML(d.Name()):
			return nil
		}
		switch kind, _ := Kind(path); kind {
		case kindAgent:
			specs = append(specs, path)
		case kindTests:
			tests = append(tests, path)
		default: // no file that is tested
		}
		return nil
	})
	slices.Sort(specs)
	slices.Sort(tests)
	return specs, tests, err
}

package specfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// FindTests lists the files with tests for a spec (a folder means its
// spec.yaml), sorted: the spec itself if tests are in it; files of kind: Tests
// beside it and in tests/ beside it; and each tests/<case>/case.yaml. Those that
// name another spec are left out. One that cannot be assigned to a spec, or is
// of a kind that there is not, is of every spec: loading it says what is wrong.
// Paths are as the spec's is written. root is the folder that no file leaves; "" =
// as for loading the tests.
func FindTests(spec, root string) ([]string, error) {
	spec = InFolder(spec, SpecFile)
	if _, err := readHeader(spec); err != nil {
		return nil, err
	}
	all, err := TestsBeside(spec)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, path := range all {
		if path == spec || isOf(path, spec, root) {
			out = append(out, path)
		}
	}
	return out, nil
}

// TestsBeside is FindTests for every spec in the folder of one.
func TestsBeside(spec string) ([]string, error) {
	dir := filepath.Dir(InFolder(spec, SpecFile))
	files, err := listed(dir, filepath.Join(dir, "tests"))
	if err != nil {
		return nil, err
	}
	for _, name := range caseFiles {
		cases, err := filepath.Glob(filepath.Join(globbed(dir), "tests", "*", name))
		if err != nil {
			return nil, err
		}
		files = append(files, cases...)
	}
	files = slices.DeleteFunc(files, func(path string) bool {
		h, err := readHeader(path)
		return !holdsTests(path, h, err)
	})
	slices.Sort(files)
	return slices.Compact(files), nil
}

// caseFiles are the names of a case that has a folder of its own; of the second
// loading it says that it is wrong.
var caseFiles = []string{CaseFile, "case.yml"}

// IsCase reports whether a path is that of a case in a folder of its own.
func IsCase(path string) bool { return slices.Contains(caseFiles, filepath.Base(path)) }

// holdsTests says, by a look at its top, whether a file holds tests, or means to.
func holdsTests(path string, h header, err error) bool {
	switch {
	case errors.Is(err, ErrNotFile), errors.Is(err, fs.ErrNotExist):
		return false
	case err != nil, h.Kind == KindTests, IsCase(path):
		return true
	case slices.Contains(Kinds, h.Kind):
		return h.Kind == KindAgent && h.Tests
	}
	return h.Kind != "" && h.Tests // a kind that there is not
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

// Absolute is the absolute form of a path, or the path itself if there is none.
func Absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// isOf says whether a file of tests is of a spec, as far as can be told.
func isOf(path, spec, root string) bool {
	h, err := readHeader(path)
	switch {
	case err != nil:
		return true
	case h.Kind == KindAgent:
		return false
	}
	dir := filepath.Dir(Absolute(path))
	var of string
	if h.Spec != "" {
		of = InFolder(filepath.Join(dir, filepath.FromSlash(h.Spec)), SpecFile)
	} else {
		f := &Reader{Root: TestRoot(dir)}
		if root != "" {
			f.Root = Absolute(root)
		}
		of = NearestSpec(f, SpecFolders(dir, f.Root, IsCase(path) && !h.Tests))
	}
	a, err := os.Stat(of)
	if err != nil {
		return true
	}
	b, err := os.Stat(spec)
	return err == nil && os.SameFile(a, b)
}

// SpecFolders are the folders in which the spec of tests is looked for: of a
// case those above it, of other files their own and the one above.
func SpecFolders(dir, root string, own bool) []string {
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
// files of kind: Agent; and those of kind: Tests with every case.yaml, or that
// mean to be. Hidden folders and node_modules are passed over, and so are
// folders that cannot be read.
func Walk(dir string) (specs, tests []string, err error) {
	err = walk(dir, func(path string, h header, err error) {
		switch {
		case h.Kind == KindAgent:
			specs = append(specs, path)
		case holdsTests(path, h, err):
			tests = append(tests, path)
		}
	})
	slices.Sort(specs)
	slices.Sort(tests)
	return specs, tests, err
}

// Files lists all files below a folder that Vet takes, sorted: those of any kind
// of ours, those of our apiVersion whose kind there is not, and what Walk lists
// besides.
func Files(dir string) ([]string, error) {
	var out []string
	err := walk(dir, func(path string, h header, err error) {
		if err == nil && (slices.Contains(Kinds, h.Kind) || h.ours()) || holdsTests(path, h, err) {
			out = append(out, path)
		}
	})
	slices.Sort(out)
	return out, err
}

// walk looks at the top of each YAML file below a folder.
func walk(dir string, visit func(path string, h header, err error)) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
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
		h, err := readHeader(path)
		visit(path, h, err)
		return nil
	})
}

// TestRoot is the project root of a file that tests or evaluates a spec.
// Where nothing marks one it is the folder of the spec: the nearest with a
// spec.yaml, at most two levels up.
func TestRoot(dir string) string {
	if root := Root(dir); root != dir || IsRoot(dir) {
		return root
	}
	at := dir
	for range 3 {
		if _, err := os.Stat(filepath.Join(at, SpecFile)); err == nil {
			return at
		}
		at = filepath.Dir(at)
	}
	return dir
}

// NearestSpec is the spec.yaml of the first folder below the root that has one.
func NearestSpec(f *Reader, dirs []string) string {
	for _, dir := range dirs {
		if path := filepath.Join(dir, SpecFile); f.Exists(path) {
			return path
		}
	}
	return ""
}

// SuitesBeside are the suites in the folder of a spec, and in evals/ and tests/
// there, that are of it.
func SuitesBeside(spec, root string) (out []string) {
	dir := filepath.Dir(spec)
	all, _ := listed(dir, filepath.Join(dir, "evals"), filepath.Join(dir, "tests"))
	for _, path := range all {
		h, err := readHeader(path)
		if err == nil && h.Kind == KindSuite && isOf(path, spec, root) {
			out = append(out, path)
		}
	}
	return out
}

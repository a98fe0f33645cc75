package specfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// FindTests returns the files with tests for a spec (a folder means its
// spec.yaml), sorted: the spec itself if it contains tests; files of kind: Tests
// beside it and in tests/ beside it; and each tests/<case>/case.yaml. It omits
// files that name another spec. A file that cannot be assigned to a spec, or has
// an unknown kind, belongs to every spec: loading it reports the mistake. Paths
// have the form of the spec's path. root is the folder that contains all files;
// "" as in LoadTests.
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
		if path == spec || belongsTo(path, spec, root) {
			out = append(out, path)
		}
	}
	return out, nil
}

// TestsBeside is like FindTests, for every spec in the folder of one.
func TestsBeside(spec string) ([]string, error) {
	dir := filepath.Dir(InFolder(spec, SpecFile))
	files, err := yamlFiles(dir, filepath.Join(dir, "tests"))
	if err != nil {
		return nil, err
	}
	for _, name := range caseFiles {
		cases, err := filepath.Glob(filepath.Join(escapeGlob(dir), "tests", "*", name))
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

// caseFiles are the file names of a case in its own folder. Loading the second
// one reports the name as a mistake.
var caseFiles = []string{CaseFile, "case.yml"}

// IsCase reports whether a path is that of a case in its own folder.
func IsCase(path string) bool { return slices.Contains(caseFiles, filepath.Base(path)) }

// holdsTests reports whether a file contains tests, or is intended to, judged by
// its header.
func holdsTests(path string, h header, err error) bool {
	switch {
	case errors.Is(err, ErrNotFile), errors.Is(err, fs.ErrNotExist):
		return false
	case err != nil, h.Kind == KindTests, IsCase(path):
		return true
	case slices.Contains(Kinds, h.Kind):
		return h.Kind == KindAgent && h.Tests
	}
	return h.Kind != "" && h.Tests // an unknown kind
}

// yamlFiles returns the YAML files of folders that exist.
func yamlFiles(dirs ...string) ([]string, error) {
	var out []string
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		for _, e := range entries {
			if IsYAML(e.Name()) && !e.IsDir() {
				out = append(out, filepath.Join(dir, e.Name()))
			}
		}
	}
	return out, nil
}

// IsYAML reports whether a file name is that of a visible YAML file. Only such files
// are found in folders, and protected from the models that write files.
func IsYAML(name string) bool {
	ext := filepath.Ext(name)
	return (ext == ".yaml" || ext == ".yml") && !strings.HasPrefix(name, ".")
}

// escapeGlob escapes a folder for use in a pattern.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(dir)
}

// Absolute returns the absolute form of a path, or the path itself if there is
// none.
func Absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// belongsTo reports whether a file of tests belongs to a spec, as far as it is known.
func belongsTo(path, spec, root string) bool {
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

// SpecFolders returns the folders to search for the spec of tests: of a case
// those above it, of other files their own and the one above.
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

// Walk returns the specs and the files with tests below a folder, both sorted:
// files of kind: Agent, and files of kind: Tests, every case.yaml and files
// intended as tests. It skips hidden folders, node_modules, and folders that
// cannot be read.
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

// Files returns all files below a folder that Vet accepts, sorted: those of any
// kind, those with an apiVersion of pex and an unknown kind, and what Walk
// returns.
func Files(dir string) ([]string, error) {
	var out []string
	err := walk(dir, func(path string, h header, err error) {
		if err == nil && (slices.Contains(Kinds, h.Kind) || h.isLanguageFile()) || holdsTests(path, h, err) {
			out = append(out, path)
		}
	})
	slices.Sort(out)
	return out, err
}

// walk reads the header of each YAML file below a folder.
func walk(dir string, visit func(path string, h header, err error)) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path == dir:
			return err
		case err != nil:
			return nil
		case d.IsDir() && path != dir && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return fs.SkipDir
		case !d.Type().IsRegular() || !IsYAML(d.Name()):
			return nil
		}
		h, err := readHeader(path)
		visit(path, h, err)
		return nil
	})
}

// TestRoot returns the project root of a file that tests or evaluates a spec.
// Without a marker it is the folder of the spec: the nearest one with a
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

// NearestSpec returns the spec.yaml of the first folder below the root that has
// one.
func NearestSpec(f *Reader, dirs []string) string {
	for _, dir := range dirs {
		if path := filepath.Join(dir, SpecFile); f.Exists(path) {
			return path
		}
	}
	return ""
}

// SuitesBeside returns the suites of a spec in its folder, and in evals/ and
// tests/ there.
func SuitesBeside(spec, root string) (out []string) {
	dir := filepath.Dir(spec)
	all, _ := yamlFiles(dir, filepath.Join(dir, "evals"), filepath.Join(dir, "tests"))
	for _, path := range all {
		h, err := readHeader(path)
		if err == nil && h.Kind == KindSuite && belongsTo(path, spec, root) {
			out = append(out, path)
		}
	}
	return out
}

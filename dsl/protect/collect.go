package protect

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/testspec"
)

// protectedFiles holds the protected files of one spec.
type protectedFiles struct {
	files     map[string]error // by key
	fileInfos []fs.FileInfo    // of the files, for hard links
	tests     []string         // folders, as keys
	programs  []string         // folders with a program that a tool starts, as keys
}

// spec adds the files of a spec, its agents, and the tests and suites beside
// them.
func (c *protectedFiles) spec(path string, o dsl.Options) {
	o.Analyzers = nil
	s, _ := dsl.Load(path, o)
	if s == nil {
		c.add(specfs.FileOf(path), errCompiled)
		c.addBeside(filepath.Dir(specfs.FileOf(path)), o)
		return
	}
	dirs := []string{s.Dir}
	for _, file := range s.Files {
		c.add(file, errCompiled)
		if kind, err := specfs.Kind(file); err == nil && kind == "Agent" && !slices.Contains(dirs, filepath.Dir(file)) {
			dirs = append(dirs, filepath.Dir(file))
		}
	}
	for _, dir := range dirs {
		c.addBeside(dir, o)
	}
	c.startedBy(s)
}

// add protects a file, by its path and by the target of a link in its place.
func (c *protectedFiles) add(path string, why error) {
	c.files[key(path)] = why
	if real, err := filepath.EvalSymlinks(path); err == nil {
		c.files[key(real)] = why
	}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		c.fileInfos = append(c.fileInfos, info)
	}
}

// addBeside protects the tests of the specs in a folder, and its suites with their
// data.
func (c *protectedFiles) addBeside(dir string, o dsl.Options) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	c.tests = append(c.tests, key(filepath.Join(dir, "tests")))
	for _, pattern := range []string{"*.yaml", "*.yml"} {
		names, _ := fs.Glob(os.DirFS(dir), pattern)
		for _, name := range names {
			c.suite(filepath.Join(dir, name), o)
		}
	}
}

// suite protects a suite and what it reads. It ignores other files.
func (c *protectedFiles) suite(path string, o dsl.Options) {
	if kind, err := specfs.Kind(path); err != nil || kind != "Suite" {
		return
	}
	c.add(path, errSuite)
	s, _ := dsl.LoadSuite(path, o)
	if s == nil {
		return
	}
	for _, file := range append(s.Files, s.Dataset.File, s.Baseline.Ref) {
		switch {
		case file == "":
		case filepath.IsAbs(file):
			c.add(file, errSuite)
		default:
			c.add(filepath.Join(s.Dir, filepath.FromSlash(file)), errSuite)
		}
	}
	for _, v := range s.Variants {
		c.add(v.Spec, errCompiled)
	}
	c.add(filepath.Join(s.Dir, testspec.Slug(s.Name)+".baseline.json"), errSuite)
}

// startedBy protects the programs that tools of a spec and of its agents start.
func (c *protectedFiles) startedBy(s *dsl.Spec) {
	for _, tool := range s.Tree().Get("tools").Entries() {
		dir := s.Dir
		if cwd := tool.Value.Get("cwd").Text(); cwd != "" {
			dir = filepath.Join(dir, filepath.FromSlash(cwd))
		}
		for _, name := range []string{"argv", "command", "args"} {
			c.program(dir, tool.Value.Get(name))
		}
	}
	for _, agent := range s.Agents() {
		c.startedBy(agent)
	}
}

// program protects the files that the words of a command name, and the files of
// the folder that its program executes.
func (c *protectedFiles) program(dir string, words dsl.Value) {
	for i, word := range append(words.Items(), words) {
		text := word.Text()
		if !word.IsText() || text == "" || strings.Contains(text, "${") {
			continue
		}
		if i == 0 || word == words {
			for _, name := range executedBy[strings.TrimSuffix(filepath.Base(text), ".exe")] {
				c.add(filepath.Join(dir, name), errProgram)
			}
		}
		path := filepath.FromSlash(text)
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			c.add(path, errProgram)
			real, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err == nil && !slices.Contains(c.programs, key(real)) {
				c.programs = append(c.programs, key(real))
			}
		}
	}
}

// executedBy maps a program to the files of its folder that it executes.
var executedBy = map[string][]string{
	"make":   {"Makefile", "GNUmakefile"},
	"gmake":  {"Makefile", "GNUmakefile"},
	"just":   {"justfile", ".justfile"},
	"task":   {"Taskfile.yml", "Taskfile.yaml"},
	"npm":    {"package.json", ".npmrc"},
	"npx":    {"package.json", ".npmrc"},
	"pnpm":   {"package.json", ".npmrc", ".pnpmfile.cjs"},
	"yarn":   {"package.json", ".yarnrc.yml", ".yarnrc"},
	"bun":    {"package.json", "bunfig.toml"},
	"docker": {"Dockerfile", "compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"},
	"podman": {"Dockerfile", "Containerfile", "compose.yaml", "compose.yml"},
	"cargo":  {"Cargo.toml", "build.rs"},
	"rake":   {"Rakefile"},
	"tox":    {"tox.ini", "pyproject.toml"},
	"pytest": {"conftest.py", "pytest.ini", "pyproject.toml"},
	"mvn":    {"pom.xml"},
	"gradle": {"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"},
	"uv":     {"pyproject.toml", "uv.toml"},
	"uvx":    {"pyproject.toml", "uv.toml"},
}

// sourceSuffixes are the extensions of files that an interpreter loads by name
// from the folder of the program that it runs.
var sourceSuffixes = []string{".py", ".pyc", ".so", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".pm", ".lua", ".sh", ".pth"}

// checkImported returns an error for a source file in the folder of a program, or for
// the main file of a package there, because the program may load it by name.
func (c *protectedFiles) checkImported(path string) error {
	dir, name := filepath.Split(key(path))
	dir = strings.TrimSuffix(dir, "/")
	if name == "__init__.py" || name == "index.js" {
		dir = filepath.ToSlash(filepath.Dir(dir))
	}
	if slices.Contains(c.programs, dir) && slices.Contains(sourceSuffixes, filepath.Ext(name)) {
		return errImported
	}
	return nil
}

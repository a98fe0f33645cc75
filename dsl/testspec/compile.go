package testspec

import (
	"path/filepath"
	"strconv"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
)

// testsCompiler compiles the cases of one file.
type testsCompiler struct {
	*config.Unit
	env          *Env
	tests        *Tests
	isFolderCase bool            // the file is one case, in its own folder
	fixedSubject *Subject        // the only spec, if the cases are in a spec that is being compiled
	inSpec       bool            // the same, also if the spec does not compile
	spec         string          // absolute path of the spec under test; "" if not found
	at           syntax.Position // the place that names it
	set          []Override      // of the file, for all cases
	params       *syntax.Node    // of the file, for all cases
	names        map[string]syntax.Position
	slugs        map[string]string
	compilers    map[*Subject]*Compiler
	tree         *syntax.Node
}

func newTester(u *config.Unit, env *Env, src *syntax.Source, tree *syntax.Node) *testsCompiler {
	return &testsCompiler{
		Unit: u, env: env, tests: &Tests{File: src.Path, Dir: src.Dir(), Root: u.Files.Root}, at: tree.Position, tree: tree,
		names: map[string]syntax.Position{}, slugs: map[string]string{}, compilers: map[*Subject]*Compiler{},
	}
}

// load compiles the spec under test.
func (t *testsCompiler) load(at syntax.Position, path string, set []Override) *Subject {
	return t.env.LoadSubject(t.Unit, at, path, set)
}

// ofSpec decodes the tests in a spec.
func (t *testsCompiler) ofSpec(tree *syntax.Node) {
	t.spec = t.tests.File
	t.load(t.at, t.spec, nil) // report its mistakes even without a test
	t.list(tree.Get("tests"))
}

// maxCases is the maximum number of cases of one file: each may need its own
// program.
const maxCases = 1000

// list decodes inline cases.
func (t *testsCompiler) list(v *syntax.Node) {
	if v == nil {
		return
	}
	if v.Kind != syntax.List {
		t.compiler(nil).WrongType(v, "tests", "a list of cases").Hint = "write - {name: ..., run: {...}}"
		return
	}
	if len(v.Items) > maxCases {
		t.Report.Error(diag.TooLarge, v.Position, "the file has %d cases; the maximum is %d", len(v.Items), maxCases).Hint = "move some of them to separate files"
	}
	for i, it := range v.Items[:min(len(v.Items), maxCases)] {
		if t.env.Done() {
			return
		}
		t.compileCase(it, "tests["+strconv.Itoa(i)+"]", nil)
	}
}

// ofFile decodes a file of kind: Tests.
func (t *testsCompiler) ofFile(tree *syntax.Node) {
	c := t.compiler(nil)
	c.Title = "a test file"
	var k language.TestsKeys
	c.Decode(tree, "", &k)
	t.set, t.params = c.Overrides(k.Set, "set"), k.Parameters
	t.findSpec(c, tree, k.Spec)
	if k.Tests != nil {
		t.list(tree.Get("tests"))
	}
}

// ofFolder decodes a case.yaml.
func (t *testsCompiler) ofFolder(tree *syntax.Node) {
	t.isFolderCase = true
	t.findSpec(t.compiler(nil), tree, syntax.TextOf(tree, "spec"))
	t.compileCase(tree, "", &language.CaseFileKeys{})
}

// findSpec finds the spec under test: the one that is written, or else spec.yaml in
// the first of the folders that has one.
func (t *testsCompiler) findSpec(c *Compiler, tree *syntax.Node, written string) {
	if v := tree.Get("spec"); v != nil {
		t.at, t.spec = v.Position, ""
		if written != "" {
			t.spec = c.SpecFile(v, written)
		}
		return
	}
	t.spec = specfs.NearestSpec(t.Files, specfs.SpecFolders(t.tests.Dir, t.tests.Root, t.isFolderCase))
	if t.spec == "" {
		t.Report.Error(diag.MissingKey, tree.Position, "the tests have no spec, and there is no %s near them", specfs.SpecFile).Hint = "write spec: PATH"
	}
}

// compiler returns the compiler for the cases of a spec; s is nil if it is
// unknown.
func (t *testsCompiler) compiler(s *Subject) *Compiler {
	c := t.compilers[s]
	if c == nil {
		c = NewCompiler(t.Unit, t.env, t.tree, t.tests.Dir, language.TestSections, s)
		c.Title = "the case"
		c.Columns, c.GuardPlaces = &config.Columns{None: true}, map[string]string{"checks": "tests"}
		t.compilers[s] = c
	}
	return c
}

// evals checks the paths of suites in a spec.
func (t *testsCompiler) evals(v *syntax.Node) {
	c := t.compiler(nil)
	if v == nil {
		return
	}
	if v.Kind != syntax.List {
		c.WrongType(v, "evals", "a list of paths of suites").Hint = "write [evals/suite.yaml]"
		return
	}
	for i, it := range v.Items {
		if it.Kind != syntax.Text {
			c.WrongType(it, "evals["+strconv.Itoa(i)+"]", "the path of a suite")
			continue
		}
		c.File(it, it.Text, specfs.SuiteFile)
	}
}

// Compile decodes a file of tests, a case.yaml, or the tests in a spec.
func Compile(u *config.Unit, env *Env, src *syntax.Source, tree *syntax.Node) *Tests {
	t := newTester(u, env, src, tree)
	switch kind := syntax.TextOf(tree, "kind"); {
	case kind == specfs.KindAgent:
		t.ofSpec(tree)
	case (kind == "" || kind == specfs.KindTests) && filepath.Base(src.Path) == specfs.CaseFile && tree.Find("tests") == nil:
		t.ofFolder(tree)
	case kind == specfs.KindTests:
		t.ofFile(tree)
	case kind == "" && specfs.IsCase(src.Path) && filepath.Base(src.Path) != specfs.CaseFile:
		u.Report.Error(diag.WrongKind, tree.Position, "a case in its own directory must be in a file named %s", specfs.CaseFile).Hint = "rename " + src.Name
	default:
		language.WrongKind(u.Report, tree, specfs.KindTests)
	}
	t.tests.Files = u.ReadPaths
	return t.tests
}

// CheckInline checks the tests and evals of a spec that is being compiled, as far
// as that needs no other program. s is that spec, or nil if it does not compile.
func CheckInline(u *config.Unit, env *Env, file string, s *Subject, tree, tests, evals *syntax.Node) {
	t := newTester(u, env, &syntax.Source{Path: file}, tree)
	t.inSpec, t.spec, t.fixedSubject = true, file, s
	t.list(tests)
	t.evals(evals)
}

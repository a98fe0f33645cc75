package dsl

import (
	"path/filepath"
	"strconv"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
)

// LoadTests reads tests: those that stand in a spec, a file of kind: Tests, or a
// case.yaml (a folder means its case.yaml, else its spec.yaml). It reports all
// that is wrong with them, and the errors of the specs they are of. The Tests
// are nil only when there is nothing to show.
//
// Tests are the same on every machine: the overrides of the options change
// nothing here.
func LoadTests(path string, o Options) (*Tests, diag.List) {
	l := newLoader(o)
	t, _ := l.loadTests(path)
	return t, l.Report.List.Sort()
}

func (l *loader) loadTests(path string) (*Tests, *syntax.Node) {
	path = specfs.InFolder(path, specfs.CaseFile, specfs.SpecFile)
	src := l.openFile(path, path, specfs.TestRoot)
	if src == nil {
		return nil, nil
	}
	tree := l.mapping(src, "a file of tests")
	if tree == nil {
		return nil, nil
	}
	t := newTester(l, src, tree)
	switch kind := syntax.TextOf(tree, "kind"); {
	case kind == specfs.KindAgent:
		t.ofSpec(tree)
	case (kind == "" || kind == specfs.KindTests) && filepath.Base(src.Path) == specfs.CaseFile && tree.Find("tests") == nil:
		t.ofFolder(tree)
	case kind == specfs.KindTests:
		t.ofFile(tree)
	case kind == "" && specfs.IsCase(src.Path) && filepath.Base(src.Path) != specfs.CaseFile:
		l.Report.Error(diag.WrongKind, tree.Position, "a case in a folder of its own stands in %s", specfs.CaseFile).Hint = "rename " + src.Name
	default:
		l.wrongKind(tree, specfs.KindTests)
	}
	t.tests.Files = l.Read
	return t.tests, tree
}

// mapping parses a file that must be a mapping; nil = reported.
func (l *loader) mapping(src *syntax.Source, what string) *syntax.Node {
	l.Read = append(l.Read, src.Path)
	tree := syntax.Parse(src, l.Report)
	if tree != nil && tree.Kind != syntax.Map {
		d := l.Report.Error(diag.WrongType, tree.Position, "%s is a mapping, not %s", what, tree.Describe())
		if d.Hint = "begin with apiVersion: " + language.Version; specfs.IsCase(src.Path) {
			d.Hint = "write render: planner, or run: {}"
		}
		return nil
	}
	return tree
}

// wrongKind reports a file of another kind than the one that is wanted.
func (l *loader) wrongKind(tree *syntax.Node, want string) {
	e := tree.Find("kind")
	if e == nil {
		l.Report.Error(diag.MissingKey, tree.Position, "the file has no kind").Hint = "write kind: " + want
		return
	}
	d := l.Report.Error(diag.WrongKind, e.Value.Position, "a file of kind: %s is no %s", e.Value.Text, want)
	switch e.Value.Text {
	case specfs.KindAgent:
		if want == specfs.KindPrices {
			d.Hint = "give it as the spec; --prices names a file of kind: Prices"
			return
		}
		d.Hint = "a suite names it by spec: " + tree.Position.Source.Name + "; pexctl run runs it"
	case specfs.KindLibrary:
		d.Hint = "agents include it: include: [" + tree.Position.Source.Name + "]"
	case specfs.KindTests:
		d.Hint = "run it by pexctl test"
	case specfs.KindSuite:
		d.Hint = "run it by pexctl eval"
	case specfs.KindPrices:
		d.Hint = "commands that read specs take it as --prices"
	default:
		d.Message = "there is no kind " + syntax.Quote(e.Value.Text)
		d.Advice = diag.Suggest(e.Value.Text, specfs.Kinds)
	}
}

// tester reads the cases of one file.
type tester struct {
	*loader
	tests     *Tests
	own       bool            // the file is one case, in a folder of its own
	fixed     *Spec           // the cases stand in a spec that is being compiled: no other is
	inside    bool            // the same, also when it does not compile
	spec      string          // absolute path of the spec under test; "" = not found
	at        syntax.Position // where it is named
	set       []setting       // of the file, for all cases
	params    *syntax.Node    // likewise
	names     map[string]syntax.Position
	slugs     map[string]string
	compilers map[*Spec]*compiler
	tree      *syntax.Node
}

func newTester(l *loader, src *syntax.Source, tree *syntax.Node) *tester {
	return &tester{
		loader: l, tests: &Tests{File: src.Path, Dir: src.Dir(), Root: l.Files.Root}, at: tree.Position, tree: tree,
		names: map[string]syntax.Position{}, slugs: map[string]string{}, compilers: map[*Spec]*compiler{},
	}
}

// ofSpec reads the tests that stand in a spec.
func (t *tester) ofSpec(tree *syntax.Node) {
	t.spec = t.tests.File
	t.under(t.at, t.spec, nil) // its mistakes are told even without a test
	t.list(tree.Get("tests"))
}

// inlineTests looks at what a spec that is being compiled has for tests and
// evals, as far as it takes no other program.
func (l *loader) inlineTests(c *compiler, s *Spec) {
	if c.doc.Tests == nil && c.doc.Evals == nil {
		return
	}
	t := newTester(l, &syntax.Source{Path: s.File}, c.tree)
	if t.inside, t.spec = true, s.File; s.program != nil {
		t.fixed = s
	}
	t.list(c.doc.Tests)
	t.evals(c.doc.Evals)
}

// maxCases bounds the cases of one file: each may want a program of its own.
const maxCases = 1000

// list reads inline cases.
func (t *tester) list(v *syntax.Node) {
	if v == nil {
		return
	}
	if v.Kind != syntax.List {
		t.compiler(nil).WrongType(v, "tests", "a list of cases").Hint = "write - {name: ..., run: {...}}"
		return
	}
	if len(v.Items) > maxCases {
		t.Report.Error(diag.TooLarge, v.Position, "%d cases are more than the %d of a file", len(v.Items), maxCases).Hint = "put some into files of their own"
	}
	for i, it := range v.Items[:min(len(v.Items), maxCases)] {
		if t.options.left() {
			return
		}
		t.one(it, "tests["+strconv.Itoa(i)+"]", nil)
	}
}

// ofFile reads a file of kind: Tests.
func (t *tester) ofFile(tree *syntax.Node) {
	c := t.compiler(nil)
	c.Title = "a file of tests"
	var k language.TestsKeys
	c.Decode(tree, "", &k)
	t.set, t.params = c.settings(k.Set, "set"), k.Parameters
	t.find(c, tree, k.Spec)
	if k.Tests != nil {
		t.list(tree.Get("tests"))
	}
}

// ofFolder reads a case.yaml.
func (t *tester) ofFolder(tree *syntax.Node) {
	t.own = true
	t.find(t.compiler(nil), tree, syntax.TextOf(tree, "spec"))
	t.one(tree, "", &language.CaseFileKeys{})
}

// find finds the spec under test: the one that is written, else spec.yaml in
// the first of the folders that has one.
func (t *tester) find(c *compiler, tree *syntax.Node, written string) {
	if v := tree.Get("spec"); v != nil {
		t.at, t.spec = v.Position, ""
		if written != "" {
			t.spec = c.SpecFile(v, written)
		}
		return
	}
	t.spec = specfs.NearestSpec(t.Files, specfs.SpecFolders(t.tests.Dir, t.tests.Root, t.own))
	if t.spec == "" {
		t.Report.Error(diag.MissingKey, tree.Position, "nothing says which spec is tested: there is no %s near", specfs.SpecFile).Hint = "write spec: path"
	}
}

// compiler is the one that decodes the cases of a spec; nil = of one that is
// not known.
func (t *tester) compiler(s *Spec) *compiler {
	c := t.compilers[s]
	if c == nil {
		c = newAgainst(t.loader, t.tree, t.tests.Dir, s)
		c.Title, c.homes = "the case", language.TestSections
		c.Columns, c.GuardPlaces = &config.Columns{None: true}, map[string]string{"checks": "tests"}
		t.compilers[s] = c
	}
	return c
}

// evals checks the paths of suites that stand in a spec.
func (t *tester) evals(v *syntax.Node) {
	c := t.compiler(nil)
	if v == nil {
		return
	}
	if v.Kind != syntax.List {
		c.WrongType(v, "evals", "a list of files of kind: Suite").Hint = "write [evals/suite.yaml]"
		return
	}
	for i, it := range v.Items {
		if it.Kind != syntax.Text {
			c.WrongType(it, "evals["+strconv.Itoa(i)+"]", "a file of kind: Suite")
			continue
		}
		c.File(it, it.Text, specfs.SuiteFile)
	}
}

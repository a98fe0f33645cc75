package dsl

import (
	"os"
	"path/filepath"

	"github.com/pexctl/pex/dsl/diag"
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
	return t, l.report.list.Sort()
}

func (l *loader) loadTests(path string) (*Tests, *value) {
	path = inFolder(path, caseFile, defaultFile)
	src := l.openFile(path, path, rootOfTests)
	if src == nil {
		return nil, nil
	}
	tree := l.mapping(src, "a file of tests")
	if tree == nil {
		return nil, nil
	}
	t := newTester(l, src, tree)
	switch kind := textAt(tree, "kind"); {
	case kind == kindAgent:
		t.ofSpec(tree)
	case (kind == "" || kind == kindTests) && filepath.Base(src.path) == caseFile && tree.find("tests") == nil:
		t.ofFolder(tree)
	case kind == kindTests:
		t.ofFile(tree)
	case kind == "" && isCase(src.path) && filepath.Base(src.path) != caseFile:
		l.report.error(diag.WrongKind, tree.place, "a case in a folder of its own stands in %s", caseFile).Hint = "rename " + src.name
	default:
		l.wrongKind(tree, kindTests)
	}
	t.tests.Files = l.read
	return t.tests, tree
}

// mapping parses a file that must be a mapping; nil = reported.
func (l *loader) mapping(src *source, what string) *value {
	l.read = append(l.read, src.path)
	tree := parse(src, l.report)
	if tree != nil && tree.kind != dict {
		d := l.report.error(diag.WrongType, tree.place, "%s is a mapping, not %s", what, tree.describe())
		if d.Hint = "begin with apiVersion: " + apiVersion; isCase(src.path) {
			d.Hint = "write render: planner, or run: {}"
		}
		return nil
	}
	return tree
}

// wrongKind reports a file of another kind than the one that is wanted.
func (l *loader) wrongKind(tree *value, want string) {
	e := tree.find("kind")
	if e == nil {
		l.report.error(diag.MissingKey, tree.place, "the file has no kind").Hint = "write kind: " + want
		return
	}
	d := l.report.error(diag.WrongKind, e.val.place, "a file of kind: %s is no %s", e.val.text, want)
	switch e.val.text {
	case kindAgent:
		if want == kindPrices {
			d.Hint = "give it as the spec; --prices names a file of kind: Prices"
			return
		}
		d.Hint = "a suite names it by spec: " + tree.place.src.name + "; pexctl run runs it"
	case kindLibrary:
		d.Hint = "agents include it: include: [" + tree.place.src.name + "]"
	case kindTests:
		d.Hint = "run it by pexctl test"
	case kindSuite:
		d.Hint = "run it by pexctl eval"
	case kindPrices:
		d.Hint = "commands that read specs take it as --prices"
	default:
		d.Message = "there is no kind " + quoted(e.val.text)
		d.Advice = diag.Suggest(e.val.text, kinds)
	}
}

// rootOfTests is the project root of a file that tests or evaluates a spec.
// Where nothing marks one it is the folder of the spec: the nearest with a
// spec.yaml, at most two levels up.
func rootOfTests(dir string) string {
	if root := ProjectRoot(dir); root != dir || marked(dir) {
		return root
	}
	at := dir
	for range 3 {
		if _, err := os.Stat(filepath.Join(at, defaultFile)); err == nil {
			return at
		}
		at = filepath.Dir(at)
	}
	return dir
}

// tester reads the cases of one file.
type tester struct {
	*loader
	tests     *Tests
	own       bool      // the file is one case, in a folder of its own
	fixed     *Spec     // the cases stand in a spec that is being compiled: no other is
	inside    bool      // the same, also when it does not compile
	spec      string    // absolute path of the spec under test; "" = not found
	at        place     // where it is named
	set       []setting // of the file, for all cases
	params    *value    // likewise
	names     map[string]place
	slugs     map[string]string
	compilers map[*Spec]*compiler
	tree      *value
}

func newTester(l *loader, src *source, tree *value) *tester {
	return &tester{
		loader: l, tests: &Tests{File: src.path, Dir: src.dir(), Root: l.files.root}, at: tree.place, tree: tree,
		names: map[string]place{}, slugs: map[string]string{}, compilers: map[*Spec]*compiler{},
	}
}

// ofSpec reads the tests that stand in a spec.
func (t *tester) ofSpec(tree *value) {
	t.spec = t.tests.File
	t.under(t.at, t.spec, nil) // its mistakes are told even without a test
	t.list(tree.get("tests"))
}

// inlineTests looks at what a spec that is being compiled has for tests and
// evals, as far as it takes no other program.
func (l *loader) inlineTests(c *compiler, s *Spec) {
	if c.doc.Tests == nil && c.doc.Evals == nil {
		return
	}
	t := newTester(l, &source{path: s.File}, c.tree)
	if t.inside, t.spec = true, s.File; s.program != nil {
		t.fixed = s
	}
	t.list(c.doc.Tests)
	t.evals(c.doc.Evals)
}

// maxCases bounds the cases of one file: each may want a program of its own.
const maxCases = 1000

// list reads inline cases.
func (t *tester) list(v *value) {
	if v == nil {
		return
	}
	if v.kind != list {
		t.compiler(nil).wrongType(v, "tests", "a list of cases").Hint = "write - {name: ..., run: {...}}"
		return
	}
	if len(v.items) > maxCases {
		t.report.error(diag.TooLarge, v.place, "%d cases are more than the %d of a file", len(v.items), maxCases).Hint = "put some into files of their own"
	}
	for i, it := range v.items[:min(len(v.items), maxCases)] {
		if t.options.left() {
			return
		}
		t.one(it, "tests["+itoa(i)+"]", nil)
	}
}

// ofFile reads a file of kind: Tests.
func (t *tester) ofFile(tree *value) {
	c := t.compiler(nil)
	c.what = "a file of tests"
	var k testsKeys
	c.decode(tree, "", &k)
	t.set, t.params = c.settings(k.Set, "set"), k.Parameters
	t.find(c, tree, k.Spec)
	if k.Tests != nil {
		t.list(tree.get("tests"))
	}
}

// ofFolder reads a case.yaml.
func (t *tester) ofFolder(tree *value) {
	t.own = true
	t.find(t.compiler(nil), tree, textAt(tree, "spec"))
	t.one(tree, "", &caseFileKeys{})
}

// find finds the spec under test: the one that is written, else spec.yaml in
// the first of the folders that has one.
func (t *tester) find(c *compiler, tree *value, written string) {
	if v := tree.get("spec"); v != nil {
		t.at, t.spec = v.place, ""
		if written != "" {
			t.spec = c.specFile(v, written)
		}
		return
	}
	t.spec = nearestSpec(t.files, foldersOfSpec(t.tests.Dir, t.tests.Root, t.own))
	if t.spec == "" {
		t.report.error(diag.MissingKey, tree.place, "nothing says which spec is tested: there is no %s near", defaultFile).Hint = "write spec: path"
	}
}

// nearestSpec is the spec.yaml of the first folder below the root that has one.
func nearestSpec(f *files, dirs []string) string {
	for _, dir := range dirs {
		if path := filepath.Join(dir, defaultFile); f.has(path) {
			return path
		}
	}
	return ""
}

// specFile is the absolute path of a spec that a value names; "" = reported.
func (c *compiler) specFile(v *value, written string) string {
	return c.fileAt(v, written, defaultFile)
}

// fileAt is the absolute path of a file that a value names and that is there;
// inside is what a folder stands for. "" = reported.
func (c *compiler) fileAt(v *value, written, inside string) string {
	abs, ok := c.below(v, written)
	if !ok {
		return ""
	}
	abs = inFolder(abs, inside)
	if _, no := c.loader.files.begin(FileOf(abs), FileOf(written), 1); no != nil {
		c.loader.refuse(v.place, no)
		return ""
	}
	return abs
}

// below is the absolute path that a value names. It need not exist, but must
// not leave the root.
func (c *compiler) below(v *value, written string) (string, bool) {
	abs, no := c.loader.files.resolve(v.src, written)
	if no == nil {
		_, no = c.loader.files.confine(abs, written)
	}
	if no != nil {
		c.loader.refuse(v.place, no)
		return "", false
	}
	return abs, true
}

// compiler is the one that decodes the cases of a spec; nil = of one that is
// not known.
func (t *tester) compiler(s *Spec) *compiler {
	c := t.compilers[s]
	if c == nil {
		c = newAgainst(t.loader, t.tree, t.tests.Dir, s)
		c.what, c.homes = "the case", testHomes
		c.columns, c.places = &columns{none: true}, map[string]string{"checks": "tests"}
		t.compilers[s] = c
	}
	return c
}

// evals checks the paths of suites that stand in a spec.
func (t *tester) evals(v *value) {
	c := t.compiler(nil)
	if v == nil {
		return
	}
	if v.kind != list {
		c.wrongType(v, "evals", "a list of files of kind: Suite").Hint = "write [evals/suite.yaml]"
		return
	}
	for i, it := range v.items {
		if it.kind != text {
			c.wrongType(it, "evals["+itoa(i)+"]", "a file of kind: Suite")
			continue
		}
		c.fileAt(it, it.text, suiteFile)
	}
}

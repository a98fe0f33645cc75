package dsl

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
)

// LoadSuite reads a file of kind: Suite (a folder means its suite.yaml) and
// reports all that is wrong with it, and the errors of the specs it is of. The
// overrides of the options are of the suite, not of its specs: those have set
// under variants. The Suite is nil only when there is nothing to show.
func LoadSuite(path string, o Options) (*Suite, diag.List) {
	l := newLoader(o)
	s, _, _ := l.loadSuite(path)
	return s, l.Report.List.Sort()
}

func (l *loader) loadSuite(path string) (*Suite, *syntax.Node, []config.Origin) {
	path = specfs.InFolder(path, specfs.SuiteFile)
	src := l.openFile(path, path, specfs.TestRoot)
	if src == nil {
		return nil, nil, nil
	}
	tree := l.mapping(src, "a suite")
	if l.foreignFormat(tree) {
		return nil, nil, nil
	}
	if tree == nil {
		return nil, nil, nil
	}
	inFull(tree)
	l.override(tree)
	inFull(tree)
	if syntax.TextOf(tree, "kind") != specfs.KindSuite {
		l.wrongKind(tree, specfs.KindSuite)
		return nil, tree, nil
	}
	b := &suiter{
		loader: l, tree: tree, keys: language.DefaultSuite(),
		suite: &Suite{File: src.Path, Dir: src.Dir(), Root: l.Files.Root, Position: positionOf(tree.Position)},
	}
	b.compile()
	b.suite.Files = l.Read
	return b.suite, tree, b.defaults
}

// inFull writes texts that stand for a mapping as the mapping: overrides reach
// into them, or are such a text.
func inFull(tree *syntax.Node) {
	for _, short := range [][2]string{{"baseline", "ref"}, {"dataset", "file"}} {
		if v := tree.Get(short[0]); v != nil && v.Kind == syntax.Text {
			inner := *v
			*v = syntax.Node{Position: v.Position, Kind: syntax.Map, Entries: []*syntax.Entry{{Key: short[1], Position: v.Position, Value: &inner}}}
		}
	}
}

// suiter reads a suite. Its phases run in the order of compile, each for what
// the later ones refer to.
type suiter struct {
	*loader
	tree     *syntax.Node
	keys     language.SuiteKeys
	suite    *Suite
	specs    []*Spec   // of the variants; nil = it does not compile
	first    *compiler // for what refers to no spec
	c        *compiler
	defaults []config.Origin
}

func (b *suiter) compile() {
	before := len(b.Report.List)
	b.first = b.compiler()
	b.first.Quiet = false
	b.first.FindSecrets(b.tree)
	b.first.Decode(b.tree, "", &b.keys)
	if b.tree.Find("metadata") == nil {
		b.Report.Error(diag.MissingKey, b.tree.Position, "the suite has no metadata").Hint = "write metadata: {name: what the suite is called}"
	}
	b.defaults = b.first.Defaults
	m := b.keys.Metadata
	b.suite.Name, b.suite.Description, b.suite.Labels = m.Name, m.Description, m.Labels
	b.suite.Repeat, b.suite.Concurrency = b.keys.Repeat, b.keys.Concurrency
	b.variants()
	b.c = b.compiler(b.specs...)
	b.dataset()
	b.checks()
	b.models()
	b.gates()
	b.baseline()
	b.errors()
	b.limits()
	b.quarantine()
	if !b.Report.FailedSince(before) {
		b.seal()
	}
}

// compiler is one that decodes parts of the suite which refer to specs.
func (b *suiter) compiler(specs ...*Spec) *compiler {
	c := newAgainst(b.loader, b.tree, b.suite.Dir, specs...)
	c.Title, c.homes, c.InlinePrompts = "the suite", language.SuiteSections, true
	return c
}

// checks reads the checks that grade answers.
func (b *suiter) checks() {
	var values []*syntax.Node
	for i, v := range b.keys.Checks {
		if check, ok := b.c.written(b.specs[0], v, "checks["+strconv.Itoa(i)+"]"); ok {
			b.suite.Checks, values = append(b.suite.Checks, check), append(values, v)
		}
	}
	b.c.nameChecks(b.suite.Checks, values)
}

// gates reads the conditions on the whole: text is an expression.
func (b *suiter) gates() {
	names := map[string]syntax.Position{}
	for i, v := range b.keys.Gates {
		path := "gates[" + strconv.Itoa(i) + "]"
		if v.Kind == syntax.Text || v.Kind == syntax.Bool {
			expr := *v
			*v = syntax.Node{Position: v.Position, Kind: syntax.Map, Entries: []*syntax.Entry{{Key: "expr", Position: v.Position, Value: &expr}}}
		}
		if v.Kind != syntax.Map {
			b.c.WrongType(v, path, "a gate").Hint = "write an expression, or {name: ..., each: ...}"
			continue
		}
		var k language.GateKeys
		before := len(b.Report.List)
		b.c.Decode(v, path, &k)
		b.perCase(v.Get("expr"), before)
		expr, each := v.Find("expr"), v.Find("each")
		if (expr == nil) == (each == nil) && !b.Report.FailedSince(before) {
			b.Report.Error(diag.Exclusive, v.Position, "%s wants expr or each", path).Hint = expressionHint(v, "write {name: ..., each: case.pass_rate >= 0.8}")
		}
		g := Gate{Name: k.Name, When: k.Expr, Each: each != nil, Position: positionOf(v.Position)}
		if g.Each {
			g.When = k.Each
		}
		if g.Name == "" {
			g.Name = g.When.Source
		}
		if first, ok := names[g.Name]; ok && g.Name != "" {
			b.Report.Error(diag.DuplicateKey, v.Position, "the gate %s is already there at %s", syntax.Quote(g.Name), syntax.Where(first)).Hint = "remove one of them, or give it another name"
		}
		names[g.Name] = v.Position
		b.suite.Gates = append(b.suite.Gates, g)
	}
}

// perCase says how a gate looks at each case, where one over the whole names
// case.
func (b *suiter) perCase(expr *syntax.Node, before int) {
	for i := before; i < len(b.Report.List); i++ {
		d := &b.Report.List[i]
		if expr == nil || d.Message != "unknown name case" {
			continue
		}
		d.Hint = "a gate on each case is a mapping: write {each: ...}"
		if len(expr.Text) <= 2*longestSaid && !strings.ContainsAny(expr.Text, "\"':{}[],#\n") {
			d.Hint = "a gate on each case is a mapping: write {each: " + expr.Text + "}"
		}
	}
}

// baseline reads what the results of the suite are compared with.
func (b *suiter) baseline() {
	v := b.keys.Baseline
	k := language.DefaultBaseline()
	defer func() { b.suite.Baseline = Baseline{Ref: k.Ref, Margin: k.Margin, Inconclusive: k.OnInconclusive} }()
	if v == nil {
		return
	}
	b.c.Decode(v, "baseline", &k)
	at := v.Get("ref")
	kind, rest, _ := strings.Cut(k.Ref, ":")
	switch {
	case at == nil: // the command may name one
	case k.Ref == "":
		b.Report.Error(diag.NotAllowed, at.Position, "the baseline is empty").Hint = "write git:main, run:ID or a file"
	case kind == "git" || kind == "run":
		if name, path, ok := strings.Cut(rest, ":"); name == "" || ok && path == "" {
			b.Report.Error(diag.NotAllowed, at.Position, "%s names nothing", syntax.Quote(k.Ref)).Hint = "write git:main, git:main:path/of/baseline.json or run:ID"
		}
	default:
		b.c.Path(at, k.Ref)
	}
}

// errors reads how many trials may end in one.
func (b *suiter) errors() {
	b.suite.MaxErrors = MaxErrors{Count: -1}
	v := b.keys.MaxErrors
	if v == nil {
		return
	}
	if v.Kind == syntax.Int {
		if n, err := strconv.Atoi(v.Text); err == nil && n >= 0 {
			b.suite.MaxErrors.Count = n
			return
		}
	}
	if share, ok := strings.CutSuffix(v.Text, "%"); ok && v.Kind == syntax.Text {
		if f, err := strconv.ParseFloat(share, 64); err == nil && f >= 0 && f <= 100 {
			b.suite.MaxErrors = MaxErrors{Count: -1, Share: f / 100}
			if f == 0 {
				b.suite.MaxErrors.Count = 0
			}
			return
		}
	}
	d := b.c.WrongType(v, "max_errors", "a number of trials or a share of them")
	if d.Hint = "write 5, or 2%"; v.Kind == syntax.Float {
		if f, err := strconv.ParseFloat(v.Text, 64); err == nil && f >= 0 && f <= 1 {
			d.Hint = "a share is written " + strconv.FormatFloat(f*100, 'g', 6, 64) + "%"
		}
	}
}

// limits reads the bounds of the whole. One on the cost needs prices.
func (b *suiter) limits() {
	l := b.keys.Limits
	b.suite.Limits = SuiteLimits{
		MaxCost: l.MaxCost, MaxTokens: l.MaxTokens, MaxDuration: int64(l.MaxDuration), TrialTimeout: int64(l.TrialTimeout),
	}
	e := b.tree.Get("limits").Get("max_cost")
	if l.MaxCost == 0 || e == nil {
		return
	}
	for i, s := range b.specs {
		if s == nil {
			continue
		}
		for _, name := range s.Unpriced() {
			b.Report.Error(diag.NoCost, e.Position, "limits.max_cost cannot hold: the llm %s of %s has no price", name, b.Files.Shown(s.File)).
				Hint = "add cost: {input: 0.4, output: 1.6} there" + orVariant(b.suite.Variants[i].Name) + ", or name a file of prices by --prices"
		}
	}
	if j := b.suite.Judge; j != nil && j.Model.Cost == nil && j.Model.Name != "" {
		b.Report.Error(diag.NoCost, e.Position, "limits.max_cost cannot hold: the llm %s that judges has no price", j.Model.Name).
			Hint = "add cost: {input: 0.4, output: 1.6} to it, or name a file of prices by --prices"
	}
}

func orVariant(name string) string {
	if name == "" {
		return ""
	}
	return ", or set it in the variant " + name
}

// Unpriced lists the llms that a spec uses and that have no price: what its runs
// cost is not known.
func (s *Spec) Unpriced() (out []string) {
	for _, m := range s.program.Models {
		for _, used := range s.models {
			if used == m.Name && m.Cost == nil {
				out = append(out, m.Name)
			}
		}
	}
	return out
}

// quarantine reads the cases that count nowhere for a while.
func (b *suiter) quarantine() {
	for i, k := range b.keys.Quarantine {
		v := b.tree.Get("quarantine").Items[i]
		if _, err := time.Parse(time.DateOnly, k.Until); err != nil && k.Until != "" {
			b.Report.Error(diag.WrongType, v.Get("until").Position, "quarantine[%d].until wants a day, not %s", i, syntax.Quote(k.Until)).Hint = "write 2026-12-31"
		}
		if _, err := filepath.Match(k.Case, ""); err != nil {
			b.Report.Error(diag.BadPattern, v.Get("case").Position, "%s is no pattern: a [ is not closed", syntax.Quote(k.Case))
		}
		b.suite.Quarantine = append(b.suite.Quarantine, Quarantine{
			Case: k.Case, Owner: k.Owner, Until: k.Until, Reason: k.Reason, Position: positionOf(v.Position),
		})
	}
}

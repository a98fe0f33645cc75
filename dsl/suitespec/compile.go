package suitespec

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine"
)

// Expand replaces short forms by mappings, so that overrides can change parts of
// them.
func Expand(tree *syntax.Node) {
	for _, short := range [][2]string{{"baseline", "ref"}, {"dataset", "file"}} {
		if v := tree.Get(short[0]); v != nil && v.Kind == syntax.Text {
			inner := *v
			*v = syntax.Node{Position: v.Position, Kind: syntax.Map, Entries: []*syntax.Entry{{Key: short[1], Position: v.Position, Value: &inner}}}
		}
	}
}

// Compile decodes a tree of kind: Suite, with short forms expanded and overrides
// applied, and returns the origins of its defaults.
func Compile(u *config.Unit, env *testspec.Env, src *syntax.Source, tree *syntax.Node) (*Suite, []config.Origin) {
	b := &compiler{
		Unit: u, env: env, tree: tree, keys: language.DefaultSuite(),
		suite: &Suite{File: src.Path, Dir: src.Dir(), Root: u.Files.Root, Position: testspec.PositionOf(tree.Position)},
	}
	b.compile()
	b.suite.Files = u.ReadPaths
	return b.suite, b.defaults
}

// load compiles the spec of a variant.
func (b *compiler) load(at syntax.Position, path string, set []testspec.Override) *testspec.Subject {
	return b.env.LoadSubject(b.Unit, at, path, set)
}

// compiler decodes a suite. Its phases run in the order of compile; each prepares
// what later ones refer to.
type compiler struct {
	*config.Unit
	env      *testspec.Env
	tree     *syntax.Node
	keys     language.SuiteKeys
	suite    *Suite
	specs    []*testspec.Subject // of the variants; nil if it does not compile
	first    *testspec.Compiler  // for parts that refer to no spec
	c        *testspec.Compiler
	defaults []config.Origin
}

func (b *compiler) compile() {
	before := len(b.Report.List)
	b.first = b.compiler()
	b.first.Quiet = false
	b.first.FindSecrets(b.tree)
	b.first.Decode(b.tree, "", &b.keys)
	if b.tree.Find("metadata") == nil {
		b.Report.Error(diag.MissingKey, b.tree.Position, "missing required key \"metadata\" in the suite").Hint = "write metadata: {name: NAME}"
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
		b.digest()
	}
}

// compiler returns a compiler for parts of the suite that refer to specs.
func (b *compiler) compiler(specs ...*testspec.Subject) *testspec.Compiler {
	c := testspec.NewCompiler(b.Unit, b.env, b.tree, b.suite.Dir, language.SuiteSections, specs...)
	c.Title, c.InlinePrompts = "the suite", true
	return c
}

// checks decodes the checks that grade answers.
func (b *compiler) checks() {
	var values []*syntax.Node
	for i, v := range b.keys.Checks {
		if check, ok := b.c.DecodeCheck(b.specs[0], v, "checks["+strconv.Itoa(i)+"]"); ok {
			b.suite.Checks, values = append(b.suite.Checks, check), append(values, v)
		}
	}
	b.c.NameChecks(b.suite.Checks, values)
}

// gates decodes the conditions on the results: text is an expression.
func (b *compiler) gates() {
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
			b.Report.Error(diag.Exclusive, v.Position, "%s must have exactly one of expr and each", path).Hint = testspec.ExpressionHint(v, "write {name: ..., each: case.pass_rate >= 0.8}")
		}
		g := Gate{Name: k.Name, When: k.Expr, Each: each != nil, Position: testspec.PositionOf(v.Position)}
		if g.Each {
			g.When = k.Each
		}
		if g.Name == "" {
			g.Name = g.When.Source
		}
		if first, ok := names[g.Name]; ok && g.Name != "" {
			b.Report.Error(diag.DuplicateKey, v.Position, "duplicate gate %s; the first one is at %s", syntax.Quote(g.Name), syntax.Where(first)).Hint = "remove or rename one of them"
		}
		names[g.Name] = v.Position
		b.suite.Gates = append(b.suite.Gates, g)
	}
}

// perCase explains how a gate evaluates each case, if a gate over all results
// refers to case.
func (b *compiler) perCase(expr *syntax.Node, before int) {
	for i := before; i < len(b.Report.List); i++ {
		d := &b.Report.List[i]
		if expr == nil || d.Message != "unknown name case" {
			continue
		}
		d.Hint = "to check each case, write a mapping: {each: ...}"
		if len(expr.Text) <= 2*testspec.MaxExpressionName && !strings.ContainsAny(expr.Text, "\"':{}[],#\n") {
			d.Hint = "to check each case, write a mapping: {each: " + expr.Text + "}"
		}
	}
}

// baseline decodes what the results of the suite are compared with.
func (b *compiler) baseline() {
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
		b.Report.Error(diag.NotAllowed, at.Position, "baseline is empty").Hint = "write git:main, run:ID or the path of a file"
	case kind == "git" || kind == "run":
		if name, path, ok := strings.Cut(rest, ":"); name == "" || ok && path == "" {
			b.Report.Error(diag.NotAllowed, at.Position, "invalid baseline %s", syntax.Quote(k.Ref)).Hint = "write git:main, git:main:path/of/baseline.json or run:ID"
		}
	default:
		b.c.Path(at, k.Ref)
	}
}

// errors decodes how many trials may fail with an error.
func (b *compiler) errors() {
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
	d := b.c.WrongType(v, "max_errors", "a number of trials or a percentage")
	if d.Hint = "write 5, or 2%"; v.Kind == syntax.Float {
		if f, err := strconv.ParseFloat(v.Text, 64); err == nil && f >= 0 && f <= 1 {
			d.Hint = "write a percentage: " + strconv.FormatFloat(f*100, 'g', 6, 64) + "%"
		}
	}
}

// limits decodes the limits of the evaluation. A limit on the cost requires
// prices.
func (b *compiler) limits() {
	l := b.keys.Limits
	b.suite.Limits = Limits{
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
		for _, name := range unpriced(s.Program, s.Models) {
			b.Report.Error(diag.NoCost, e.Position, "limits.max_cost cannot be enforced: LLM %q of %s has no price", name, b.Files.Shown(s.File)).
				Hint = "add cost: {input: PRICE, output: PRICE} there, in USD per million tokens (0 if it is free)" + inVariant(b.suite.Variants[i].Name) + ", or pass a price file with --prices"
		}
	}
	if j := b.suite.Judge; j != nil && j.Model.Cost == nil && j.Model.Name != "" {
		b.Report.Error(diag.NoCost, e.Position, "limits.max_cost cannot be enforced: LLM %q of the judge has no price", j.Model.Name).
			Hint = "add cost: {input: PRICE, output: PRICE} to it, in USD per million tokens (0 if it is free), or pass a price file with --prices"
	}
}

func inVariant(name string) string {
	if name == "" {
		return ""
	}
	return ", or set it in the variant " + name
}

// quarantine decodes the cases that are excluded for a while.
func (b *compiler) quarantine() {
	for i, k := range b.keys.Quarantine {
		v := b.tree.Get("quarantine").Items[i]
		if _, err := time.Parse(time.DateOnly, k.Until); err != nil && k.Until != "" {
			b.Report.Error(diag.WrongType, v.Get("until").Position, "quarantine[%d].until must be a date, got %s", i, syntax.Quote(k.Until)).Hint = "write 2026-12-31"
		}
		if _, err := filepath.Match(k.Case, ""); err != nil {
			b.Report.Error(diag.BadPattern, v.Get("case").Position, "invalid pattern %s: a [ is not closed", syntax.Quote(k.Case))
		}
		b.suite.Quarantine = append(b.suite.Quarantine, Quarantine{
			Case: k.Case, Owner: k.Owner, Until: k.Until, Reason: k.Reason, Position: testspec.PositionOf(v.Position),
		})
	}
}

// unpriced returns the LLMs that a program uses and that have no price.
func unpriced(p *engine.Program, used []string) (out []string) {
	for _, m := range p.Models {
		for _, name := range used {
			if name == m.Name && m.Cost == nil {
				out = append(out, m.Name)
			}
		}
	}
	return out
}

package guard_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/engine/exprenv"
)

// term is a part of a random approval: its source, and its meaning according to
// an independent evaluator.
type term struct {
	src  string
	eval func(arguments) meaning
}

// meaning is a value: nil, a bool, a string, a *big.Rat or a list. undecided is
// set if there is none.
type meaning struct {
	value     any
	undecided bool
}

// arguments are those of a call, without missing ones.
type arguments map[string]any

var noMeaning = meaning{undecided: true}

func literal(src string, v any) term {
	return term{src, func(arguments) meaning { return meaning{value: v} }}
}

func ratOf(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return r
}

// author generates random approvals.
type author struct{ *rand.Rand }

func choose[T any](a author, of ...T) T { return of[a.IntN(len(of))] }

var argumentNames = []string{"amount", "limit", "order", "flag", "tags", "gone"}

// value returns an argument, a literal, or an argument with a default.
func (a author) value() term {
	name := choose(a, argumentNames...)
	arg := term{choose(a, "tool.args."+name, `tool.args["`+name+`"]`, "tool.args?."+name, "[tool.args][0]."+name, "first([tool.args])."+name), func(m arguments) meaning { return meaning{value: m[name]} }}
	switch a.IntN(5) {
	case 0:
		return a.constant()
	case 1:
		d := a.constant()
		return term{"(" + arg.src + " ?? " + d.src + ")", func(m arguments) meaning {
			if m[name] != nil {
				return meaning{value: m[name]}
			}
			return d.eval(m)
		}}
	}
	return arg
}

func (a author) constant() term {
	n := choose(a, "0", "50", "80", "0.1", "9007199254740992", "9007199254740993")
	s := choose(a, "", "8", "80", "17", "x")
	return choose(a, literal(n, ratOf(n)), literal(n, ratOf(n)), literal(`"`+s+`"`, s), literal("true", true))
}

// equalMeanings compares two values of one kind; both must exist.
func equalMeanings(l, r any) meaning {
	switch x := l.(type) {
	case string:
		if y, ok := r.(string); ok {
			return meaning{value: x == y}
		}
	case bool:
		if y, ok := r.(bool); ok {
			return meaning{value: x == y}
		}
	case *big.Rat:
		if y, ok := r.(*big.Rat); ok {
			return meaning{value: x.Cmp(y) == 0}
		}
	case []any:
		y, ok := r.([]any)
		if !ok {
			return noMeaning
		}
		for i := 0; i < len(x) && len(x) == len(y); i++ {
			if m := equalMeanings(x[i], y[i]); m.undecided || m.value == false {
				return m
			}
		}
		return meaning{value: len(x) == len(y)}
	}
	return noMeaning
}

// comparison returns a comparison of two values, at least one of them an
// argument.
func (a author) comparison() term {
	l, r := a.value(), a.value()
	for !strings.Contains(l.src+r.src, "tool") || !strings.Contains(l.src, "tool") && strings.Contains(l.src, "true") {
		l = a.value()
	}
	op := choose(a, "==", "!=", "<", "<=", ">", ">=", "contains", "startsWith", "endsWith")
	return term{l.src + " " + op + " " + r.src, func(m arguments) meaning {
		x, y := l.eval(m), r.eval(m)
		if x.undecided || y.undecided || x.value == nil || y.value == nil {
			return noMeaning
		}
		switch op {
		case "==", "!=":
			same := equalMeanings(x.value, y.value)
			if !same.undecided && op == "!=" {
				same.value = same.value == false
			}
			return same
		case "contains", "startsWith", "endsWith":
			s, ok := x.value.(string)
			part, also := y.value.(string)
			if !ok || !also {
				return noMeaning
			}
			return meaning{value: map[string]func(string, string) bool{"contains": strings.Contains, "startsWith": strings.HasPrefix, "endsWith": strings.HasSuffix}[op](s, part)}
		}
		sign := 0
		switch v := x.value.(type) {
		case string:
			w, ok := y.value.(string)
			if !ok {
				return noMeaning
			}
			sign = strings.Compare(v, w)
		case *big.Rat:
			w, ok := y.value.(*big.Rat)
			if !ok {
				return noMeaning
			}
			sign = v.Cmp(w)
		default:
			return noMeaning
		}
		return meaning{value: map[string]bool{"<": sign < 0, "<=": sign <= 0, ">": sign > 0, ">=": sign >= 0}[op]}
	}}
}

// membership returns a condition with `in`, on nil or on a list.
func (a author) membership() term {
	name := choose(a, argumentNames...)
	switch a.IntN(4) {
	case 0:
		return term{`"` + name + `" in tool.args`, func(m arguments) meaning { _, ok := m[name]; return meaning{value: ok} }}
	case 1:
		op := choose(a, "==", "!=")
		return term{"tool.args." + name + " " + op + " nil", func(m arguments) meaning { return meaning{value: (m[name] == nil) == (op == "==")} }}
	case 2:
		all, want := choose(a, "all", "any", "none"), a.constant()
		return term{all + "(tool.args." + name + ", # == " + want.src + ")", func(m arguments) meaning { return overAll(all, m[name], want.eval(m).value) }}
	}
	return term{"tool.args." + name + ` in [80, 50, 0.1]`, func(m arguments) meaning {
		v, ok := m[name].(*big.Rat)
		if !ok {
			return noMeaning
		}
		return meaning{value: slices.ContainsFunc([]string{"80", "50", "0.1"}, func(s string) bool { return ratOf(s).Cmp(v) == 0 })}
	}}
}

// overAll applies all, any or none to the comparison of a list's elements with a
// value.
func overAll(function string, of, want any) meaning {
	list, ok := of.([]any)
	if !ok {
		return noMeaning
	}
	for _, e := range list {
		same := equalMeanings(e, want)
		switch {
		case same.undecided:
			return noMeaning
		case function == "all" && same.value == false:
			return meaning{value: false}
		case function != "all" && same.value == true:
			return meaning{value: function == "any"}
		}
	}
	return meaning{value: function != "any"}
}

// condition returns a boolean term, possibly undecided.
func (a author) condition(depth int) term {
	if depth == 0 {
		if a.IntN(3) == 0 {
			return a.membership()
		}
		return a.comparison()
	}
	l, r := a.condition(depth-1), a.condition(a.IntN(depth))
	switch a.IntN(5) {
	case 0:
		return term{"not (" + l.src + ")", func(m arguments) meaning {
			x := l.eval(m)
			return meaning{x.value == false, x.undecided}
		}}
	case 1:
		c := a.condition(0)
		return term{"((" + c.src + ") ? (" + l.src + ") : (" + r.src + "))", func(m arguments) meaning {
			switch x := c.eval(m); {
			case x.undecided:
				return x
			case x.value == true:
				return l.eval(m)
			}
			return r.eval(m)
		}}
	case 2:
		name := fmt.Sprintf("v%d", a.IntN(1_000_000))
		return term{"(let " + name + " = (" + l.src + "); " + name + " or (" + r.src + "))", junction(l, r, true)}
	case 3:
		return term{"(" + l.src + ") " + choose(a, "&&", "and") + " (" + r.src + ")", junction(l, r, false)}
	}
	return term{"(" + l.src + ") " + choose(a, "||", "or") + " (" + r.src + ")", junction(l, r, true)}
}

// junction combines two terms with `or`, which true decides, or with `and`, which
// false decides.
func junction(l, r term, decides bool) func(arguments) meaning {
	return func(m arguments) meaning {
		x := l.eval(m)
		if x.undecided || x.value == decides {
			return x
		}
		return r.eval(m)
	}
}

// call returns the arguments of a random call, as JSON and as values.
func (a author) call() (text string, m arguments) {
	m = arguments{}
	var members []string
	for _, name := range argumentNames {
		v, written := a.argument()
		if a.IntN(4) == 0 {
			continue
		}
		m[name] = v
		members = append(members, fmt.Sprintf("%q: %s", name, written))
	}
	return "{" + strings.Join(members, ", ") + "}", m
}

func (a author) argument() (v any, written string) {
	n := choose(a, "0", "80", "80.0", "8e1", "-1", "0.1", "50.0000000000000000001", "9007199254740992", "9007199254740993", "9007199254740993.0", "1e300", "-1e-300", "92233720368547758080", "-0.0")
	s := choose(a, "", "8", "80", "17", "x", "80.0")
	switch a.IntN(6) {
	case 0, 1:
		return ratOf(n), n
	case 2:
		return s, `"` + s + `"`
	case 3:
		return nil, "null"
	case 4:
		return true, "true"
	}
	switch a.IntN(4) {
	case 0:
		return []any{}, "[]"
	case 1:
		return []any{s}, `["` + s + `"]`
	case 2:
		return []any{ratOf(n)}, "[" + n + "]"
	}
	return []any{s, ratOf(n)}, `["` + s + `", ` + n + "]"
}

// approvals counts the results for random approvals.
type approvals struct{ tried, passed, undecided int }

// callsOfEach is the number of random calls for each approval.
const callsOfEach = 5

// agree compares a random approval with the reference on random calls. It skips
// sources with two literals that cannot be compared, because they do not compile.
func (n *approvals) agree(t *testing.T, env guard.Env, seed uint64) {
	t.Helper()
	a := author{rand.New(rand.NewPCG(seed, 7))}
	c := a.condition(a.IntN(4))
	g, p := guard.Compile(c.src, env)
	if p != nil {
		return
	}
	for range callsOfEach {
		text, m := a.call()
		want := c.eval(m)
		got, err := g.Eval(map[string]any{"tool": exprenv.Tool{Name: "pay", Args: decodedArgs(t, text)}})
		if (err != nil) != want.undecided || err == nil && got != (want.value == true) {
			t.Fatalf("seed %d: %s\nfor %s: got %v, %v; want %+v", seed, c.src, text, got, err, want)
		}
		n.tried++
		if err != nil {
			n.undecided++
		} else if !got {
			n.passed++
		}
	}
}

// TestApprovalsPassWhatTheReferencePasses: over 10,000 random approvals and
// calls, with missing, null, wrongly typed and extreme arguments, a call passes
// only if a second evaluator agrees.
func TestApprovalsPassWhatTheReferencePasses(t *testing.T) {
	env, _ := guard.Place("approval", nil)
	var n approvals
	for seed := uint64(0); n.tried < 10_000; seed++ {
		n.agree(t, env, seed)
	}
	if n.passed < 400 || n.undecided < 1_000 || n.tried-n.passed-n.undecided < 400 { // otherwise the test would prove nothing
		t.Errorf("%+v", n)
	}
}

// FuzzApproval runs TestApprovalsPassWhatTheReferencePasses for any seed.
func FuzzApproval(f *testing.F) {
	f.Add(uint64(1))
	env, _ := guard.Place("approval", nil)
	f.Fuzz(func(t *testing.T, seed uint64) { new(approvals).agree(t, env, seed) })
}

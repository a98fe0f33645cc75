package speccmd

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/engine/costbound"
	"github.com/pexctl/pex/internal/app/failure"
)

// costFlags returns the flags for the worst case.
func costFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "cost", Category: ui.GroupCost, Usage: "Print the worst-case cost of a run: model calls, tokens and USD"},
		&cli.Float64Flag{Name: "max-cost", Category: ui.GroupCost, Usage: "Fail if the worst-case cost of a run is unbounded or above `USD` (PEX079)"},
		&cli.IntFlag{Name: "max-tokens", Category: ui.GroupCost, Usage: "Fail if a run can use more than `N` tokens"},
		&cli.IntFlag{Name: "max-calls", Category: ui.GroupCost, Usage: "Fail if a run can make more than `N` model calls"},
		&cli.IntFlag{Name: "context", Category: ui.GroupCost, Usage: "Assume at most `N` input tokens per request. Set N to the largest context window of your models"},
	}
}

// worstCases are the worst cases of the specs in the arguments.
type worstCases struct {
	shown bool
	gates []gate
	o     costbound.Options
	specs int // among the files
	all   []specBounds
}

// specBounds is the worst case of one file.
type specBounds struct {
	File string `json:"file"`
	costbound.Estimate
	Lines    []heavyLine `json:"levers"` // with their places
	limits   string      // place of the spec's limits; "" if none
	unpriced string      // an LLM in use without a price, or ""
	budgets  []string    // the limits of tokens and cost that the spec sets
}

// heavyLine is a lever with its value.
type heavyLine struct {
	costbound.Lever
	Value  string `json:"value,omitempty"`
	Origin string `json:"origin,omitempty"`
}

// gate is the maximum that a run may reach.
type gate struct {
	flag    string
	limit   string // the key of the limit that would enforce it; "" if none
	most    string // the maximum, as a value of the limit
	allows  string // the maximum, formatted
	exceeds func(costbound.Totals) (reaches, unbounded string)
}

func worstCasesOf(c *call) (*worstCases, error) {
	w := &worstCases{shown: c.showCost, o: costbound.Options{Context: c.contextTokens}, all: []specBounds{}}
	usd := c.maxCost
	if c.IsSet("max-cost") {
		w.gates = append(w.gates, gateOf("cost", "max_cost", usd, inDollars, func(t costbound.Totals) costbound.Money { return t.Cost }))
	}
	if c.IsSet("max-tokens") {
		w.gates = append(w.gates, gateOf("tokens", "max_tokens", c.maxTokens, manyTokens, func(t costbound.Totals) costbound.Count { return t.Tokens }))
	}
	if c.IsSet("max-calls") {
		w.gates = append(w.gates, gateOf("calls", "", c.maxCalls, modelCalls, func(t costbound.Totals) costbound.Count { return t.Calls }))
	}
	if min(usd, float64(c.maxTokens), float64(c.maxCalls), float64(c.contextTokens)) < 0 {
		return nil, failure.Usagef("--max-cost, --max-tokens, --max-calls and --context must not be negative")
	}
	return w, nil
}

func gateOf[T int | float64](of, limit string, most T, text func(T) string, figure func(costbound.Totals) costbound.Quantity[T]) gate {
	return gate{flag: "--max-" + of, limit: limit, most: fmt.Sprint(most), allows: text(most), exceeds: func(t costbound.Totals) (string, string) {
		f := figure(t)
		if f.Exceeds(most) {
			return text(f.Most), f.Unbounded
		}
		return "", ""
	}}
}

// inDollars formats an amount with at least two decimals.
func inDollars(usd float64) string {
	text := fmt.Sprintf("$%.6g", usd)
	if whole, decimals, _ := strings.Cut(text, "."); len(decimals) < 2 && !strings.Contains(text, "e") {
		text = whole + "." + (decimals + "00")[:2]
	}
	return text
}

func manyTokens(n int) string { return ui.Count(n, "token") }

func modelCalls(n int) string { return ui.Count(n, "call") }

// enabled reports whether the worst case is needed.
func (w *worstCases) enabled() bool { return w.shown || len(w.gates) > 0 }

// analyzers returns those of vet, and one that computes the worst case of a file.
func (w *worstCases) analyzers(all []dsl.Analyzer, file, shown string) []dsl.Analyzer {
	if !w.enabled() {
		return all
	}
	bare := specfs.FileOf(file)
	root, agent := specFile(bare), strings.TrimPrefix(strings.TrimPrefix(file, bare), "#")
	if kind, _ := specfs.Kind(root); kind == "Agent" { // reading errors are reported when the file is loaded
		w.specs++
	}
	return append(slices.Clip(all), dsl.Analyzer{
		Name: "worst_case", Codes: []diag.Code{diag.CostAboveLimit},
		Run: func(p *dsl.Pass) {
			if p.Spec.File == root && p.Spec.Agent == agent { // not an agent within it
				w.compute(p, shown)
			}
		},
	})
}

// specFile returns the file of a spec in the form of dsl.Spec.
func specFile(path string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "spec.yaml")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		abs = filepath.Join(real, filepath.Base(abs))
	}
	return abs
}

// compute computes the worst case, and reports what exceeds a gate.
func (w *worstCases) compute(p *dsl.Pass, shown string) {
	b := specBounds{File: shown, Estimate: costbound.Bound(p.Program, w.o), Lines: []heavyLine{}}
	if p.Program.Limits.MaxTokens > 0 {
		b.budgets = append(b.budgets, "max_tokens")
	}
	if p.Program.Limits.MaxCost > 0 {
		b.budgets = append(b.budgets, "max_cost")
	}
	values := map[string]config.Origin{}
	for _, o := range p.Spec.Explain() {
		values[o.Path] = o
	}
	for _, l := range b.Levers {
		line := heavyLine{Lever: l}
		if v, ok := values[l.Path]; ok && l.Agent == "" {
			line.Value, line.Origin = v.Value, v.Origin
		}
		b.Lines = append(b.Lines, line)
	}
	for _, part := range b.Parts {
		if m := project.LLM(p.Program, part.LLM); part.Agent == "" && m != nil && m.Cost == nil {
			b.unpriced = m.Name
			break
		}
	}
	if place := keyPlace(p.Spec, "limits"); place.Line > 0 {
		b.limits = fmt.Sprintf("%s:%d", place.File, place.Line)
	}
	w.all = append(w.all, b)
	for _, g := range w.gates {
		reaches, unbounded := g.exceeds(b.Limited)
		switch {
		case unbounded != "":
			p.Error(diag.CostAboveLimit, g.place(p.Spec), "%s is %s, but the worst case is unbounded: %s", g.flag, g.allows, unbounded).Hint = b.gateHint(&g)
		case reaches != "":
			p.Error(diag.CostAboveLimit, g.place(p.Spec), "%s is %s, but a run can reach %s", g.flag, g.allows, reaches).Hint = b.gateHint(&g)
		}
	}
}

// place returns where to enforce the gate: at its limit if the spec sets it, else at
// limits or metadata.
func (g *gate) place(s *dsl.Spec) dsl.Place {
	for _, path := range [][]string{{"limits", g.limit}, {"limits"}} {
		if s.Tree().Get(path...).Exists() {
			return keyPlace(s, path...)
		}
	}
	return keyPlace(s, "metadata")
}

// keyPlace returns the place of the key at a path of the spec.
func keyPlace(s *dsl.Spec, path ...string) dsl.Place {
	last := len(path) - 1
	for _, e := range s.Tree().Get(path[:last]...).Entries() {
		if e.Key == path[last] {
			return e.Place
		}
	}
	return dsl.Place{}
}

// print prints the worst cases if requested.
func (w *worstCases) print(stdout io.Writer) {
	if !w.shown {
		return
	}
	for i := range w.all {
		b := &w.all[i]
		if len(w.all) > 1 {
			fmt.Fprintf(stdout, "# %s\n", b.File)
		}
		b.print(stdout)
		if i < len(w.all)-1 {
			fmt.Fprintln(stdout)
		}
	}
}

// result returns the result of vet: exceeding a gate is a negative result, and
// any other error makes the spec unusable. A gate that was not evaluated is an
// error.
func (w *worstCases) result(found diag.List) error {
	if w.enabled() && !found.Failed() && len(w.all) < max(1, w.specs) {
		return failure.Usagef("the worst case needs a spec of kind: Agent; pass one or its directory")
	}
	rest := slices.DeleteFunc(slices.Clone(found), func(d diag.Diagnostic) bool { return d.Code == diag.CostAboveLimit })
	if found.Failed() && !rest.Failed() {
		return ui.Exit(ui.ExitNegative, nil)
	}
	return ui.Invalid(found)
}

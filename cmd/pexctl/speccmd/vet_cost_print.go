package speccmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/costbound"
	"github.com/pexctl/pex/engine/text"
)

// unboundedCell is shown for a figure without an upper bound. The reason follows
// below the table.
const unboundedCell = "unbounded"

// print prints what a run can reach: by role, in total, why there is no bound,
// and which parts of the spec contribute.
func (b *specBounds) print(w io.Writer) {
	rows := [][]string{{"NODE", "ROLE", "LLM", "CALLS", "INPUT", "OUTPUT", "COST", "HOW OFTEN"}}
	for i := range b.Parts {
		rows = append(rows, partRow(&b.Parts[i]))
	}
	if len(b.Parts) > 1 || b.Total != b.Limited {
		rows = append(rows, totalsRow("total", b.Total, ""))
	}
	if b.Total != b.Limited {
		rows = append(rows, totalsRow("within limits", b.Limited, "with limits."+strings.Join(b.budgets, " and limits.")))
	}
	ui.Table(w, rows)
	for _, why := range b.reasons() {
		fmt.Fprintln(w, why)
	}
	b.printLevers(w)
	if ways := b.bounding(); len(ways) > 0 {
		fmt.Fprintf(w, "\n%s\n", strings.Join(ways, "\n"))
	}
}

func partRow(p *costbound.Part) []string {
	node, role := p.Node, p.Role
	if p.Agent != "" {
		node = p.Agent + "/" + node
	}
	if p.Tool != "" {
		node += " (" + p.Tool + ")"
	}
	row := totalsRow(orDash(node), p.Totals, p.Why)
	if row[1], row[2] = role, orDash(p.LLM); role == "repeats" { // its name in JSON
		row[1] = "retries"
	}
	return row
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func totalsRow(name string, t costbound.Totals, why string) []string {
	calls := amount(t.Calls)
	if t.Extra.Most > 0 {
		calls += " +" + text.Amount(t.Extra.Most)
	}
	cost := unboundedCell
	if t.Cost.Known() {
		cost = fmt.Sprintf("$%.4f", t.Cost.Most)
	}
	return []string{name, "", "", calls, amount(t.Input), amount(t.Output), cost, why}
}

func amount(n costbound.Count) string {
	if !n.Known() {
		return unboundedCell
	}
	return text.Amount(n.Most)
}

// reasons explains why figures have no bound.
func (b *specBounds) reasons() []string {
	var out []string
	add := func(what, why string) {
		if why != "" {
			out = append(out, fmt.Sprintf("unbounded %s: %s", what, why))
		}
	}
	t := b.Limited
	add("calls", t.Calls.Unbounded)
	if t.Tokens.Unbounded != t.Calls.Unbounded {
		add("input", t.Input.Unbounded)
		if t.Output.Unbounded != t.Input.Unbounded {
			add("output", t.Output.Unbounded)
		}
	}
	if why := t.Cost.Unbounded; !slices.Contains([]string{t.Calls.Unbounded, t.Input.Unbounded, t.Output.Unbounded}, why) {
		add("cost", why)
	}
	return out
}

// mostLevers is the maximum number of lines shown.
const mostLevers = 5

func (b *specBounds) printLevers(w io.Writer) {
	if len(b.Lines) == 0 {
		return
	}
	of := "CALLS"
	if b.Total.Cost.Known() && b.Total.Cost.Most > 0 {
		of = "COST"
	}
	rows := [][]string{{"LIMIT", "VALUE", "SHARE", "SET IN"}}
	for _, l := range b.Lines[:min(mostLevers, len(b.Lines))] {
		if l.Share < 0.005 {
			break // parts without a bound
		}
		path := l.Path
		if l.Agent != "" {
			path += " of " + l.Agent
		}
		share := fmt.Sprintf("%.0f%% of %s", 100*l.Share, strings.ToLower(of))
		rows = append(rows, []string{path, orDash(l.Value), share, orDash(l.Origin)})
	}
	fmt.Fprintln(w)
	ui.Table(w, rows)
}

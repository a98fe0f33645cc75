package report

import (
	"fmt"
	"io"
	"strconv"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

// Table writes a report for a terminal.
var Table = component.New("table", "Verdict, rates, gates, comparison and worst cases as text for a terminal.", defaults,
	func(_ *config, s Settings) (Format, error) { return &tableFormat{s}, nil })

type tableFormat struct{ set Settings }

var (
	_ Format = (*tableFormat)(nil)
	_ Diffs  = (*tableFormat)(nil)
)

// Limits of parts that can be long.
const (
	tableGroups = 15
	tableCases  = 10
	tableNames  = 8
)

// Write writes the report and omits empty sections.
func (t *tableFormat) Write(w io.Writer, r *report.Report, _ trial.Rows) error {
	s, view := newSheet(t.set), newSurvey(r, tableCases)
	t.head(s, r, view)
	changes(s, changesOf(r.Comparison, r.Cases))
	fmt.Fprintln(&s.b)
	rates(s, r, view)
	checks(s, r)
	t.gates(s, r)
	if c := r.Comparison; c != nil {
		comparison(s, c, r.Stats.PassRate)
	}
	worst(s, view)
	remarks(s, r)
	_, err := io.WriteString(w, s.b.String())
	return err
}

func (t *tableFormat) head(s *sheet, r *report.Report, view *survey) {
	m, text := headline(r)
	fmt.Fprintln(&s.b, s.pen.Ink(m.ink, m.sign)+" "+s.pen.Ink(tty.Bold, tty.OneLine(text, s.columns-2)))
	if r.Reason != "" {
		s.wrapped("", "  ", r.Reason)
	}
	s.wrapped(tty.Dim, "  ", scope(r, view.cases))
	s.wrapped(tty.Dim, "  ", usageText(r, dollars))
	s.line(tty.Dim, "  ", r.Manifest.ID+"  "+t.set.file(r.Manifest.File))
}

// rates writes the rates of all cases, the variants and the groups.
func rates(s *sheet, r *report.Report, view *survey) {
	rows := [][]string{{"", "pass rate", "95% interval", "passed", "errors", "cost/trial", "time/trial", "tokens"}}
	rows = append(rows, rateRow(view.all, r))
	for _, p := range view.variants {
		rows = append(rows, rateRow(p, r))
	}
	s.grid("  ", rows)
	if len(view.groups) == 0 {
		return
	}
	s.title("Groups, worst first")
	rows = [][]string{{"", "pass rate", "95% interval", "passed", "errors"}}
	for _, p := range view.groups[:min(len(view.groups), tableGroups)] {
		rows = append(rows, rateRow(p, r)[:5])
	}
	s.grid("  ", rows)
	more(s, len(view.groups)-tableGroups, "group")
}

func rateRow(p part, r *report.Report) []string {
	row := []string{
		p.Name, rate(p.N, p.PassRate), interval(p.CILow, p.CIHigh),
		passRate(&p.GroupStats), strconv.Itoa(p.Errors), "", "", "",
	}
	if p.N == 0 {
		row[2] = "-"
	}
	if p.measured && p.N > 0 {
		row[5], row[6], row[7] = "?", milliseconds(p.latencyMS), text.Amount(int(p.tokens))
		if _, some := priced(&r.Manifest); some {
			row[5] = dollars(p.cost)
		}
	}
	return row
}

func checks(s *sheet, r *report.Report) {
	if len(r.Stats.ByCheck) < 2 {
		return
	}
	s.title("Pass rate per check")
	rows := [][]string{{"", "pass rate", "trials"}}
	for _, p := range parts(r.Stats.ByCheck, checkNames(r)) {
		rows = append(rows, []string{p.Name, rate(p.N, p.PassRate), passRate(&p.GroupStats)})
	}
	s.grid("  ", rows)
}

func (t *tableFormat) gates(s *sheet, r *report.Report) {
	if len(r.Gates) == 0 {
		return
	}
	s.title("Gates")
	for _, g := range r.Gates {
		m := good
		if !g.Pass {
			m = wrong
		}
		s.markedLine(m, gateText(&g))
		if g.Pass {
			continue
		}
		if len(g.Cases) > 0 {
			s.line("", "    ", "fails for "+joinNames(g.Cases, tableNames))
		}
		if g.Error != "" {
			s.wrapped(tty.Red, "    ", g.Error)
		}
		if place := t.set.at(g.File, g.Line); place != "" {
			s.line(tty.Dim, "    ", place)
		}
	}
}

// gateText returns a gate with its metrics.
func gateText(g *report.GateResult) string {
	text := g.Name
	if g.Expr != "" && g.Expr != g.Name {
		text += ": " + g.Expr
	}
	if g.Got != "" {
		text += "  (" + g.Got + ")"
	}
	return text
}

func comparison(s *sheet, c *report.Comparison, now float64) {
	s.title("Compared with " + baselineName(c))
	m := comparisonMark(c)
	s.markedLine(m, c.Verdict)
	s.wrapped("", "    ", difference(c, now))
	if text := power(c); text != "" {
		s.wrapped("", "    ", text)
	}
	var each []item
	for i := range c.ByVariant {
		v, m := &c.ByVariant[i], mark{" ", ""}
		if v.Regressed {
			m = wrong
		}
		each = append(each, item{m, []string{v.Variant, variantWords(v)}})
	}
	s.list("    ", each)
	if c.GradingChange {
		s.wrapped(tty.Yellow, "    ", "the checks differ from those of the baseline, so the results cannot be compared")
	}
	if len(c.Removed) > 0 {
		s.wrapped(tty.Red, "    ", fmt.Sprintf("lost coverage, %s: %s", text.Count(len(c.Removed), "case"), joinNames(c.Removed, tableNames)))
	}
	if len(c.Added) > 0 {
		s.wrapped(tty.Dim, "    ", fmt.Sprintf("%s: %s", text.Count(len(c.Added), "new case"), joinNames(c.Added, tableNames)))
	}
}

func worst(s *sheet, view *survey) {
	if view.bad == 0 {
		return
	}
	s.title("Failing cases")
	var items []item
	for _, c := range view.worst {
		m := wrong
		if c.Passed == c.N {
			m = unsure
		}
		items = append(items, item{m, []string{trialsText(&c), label(c.ID, c.Variant), failureReason(&c)}})
	}
	s.list("  ", items)
	more(s, view.bad-len(view.worst), "case")
}

// more writes how many entries were omitted.
func more(s *sheet, n int, of string) {
	if n > 0 {
		s.line(tty.Dim, "  ", fmt.Sprintf("… and %d more %s", n, text.Plural(n, of)))
	}
}

// remarks writes errors, flaky and quarantined cases, and warnings.
func remarks(s *sheet, r *report.Report) {
	if len(r.Errors) > 0 {
		s.title("Errors")
		for _, e := range r.Errors {
			s.markedLine(unsure, fmt.Sprintf("%d %s: %s", e.Count, e.Kind, e.Example))
		}
	}
	if len(r.FlakyCases)+len(r.Quarantined)+len(r.Warnings) > 0 {
		fmt.Fprintln(&s.b)
	}
	if n := len(r.FlakyCases); n > 0 {
		s.wrapped("", "", fmt.Sprintf("%s: %s", text.Count(n, "flaky case"), joinNames(r.FlakyCases, tableNames)))
	}
	if len(r.Quarantined) > 0 {
		s.wrapped("", "", quarantineText(r)+": "+joinNames(r.Quarantined, tableNames))
	}
	for _, text := range r.Warnings[:min(len(r.Warnings), tableCases)] {
		s.wrapped(tty.Yellow, "", "warning: "+text)
	}
	more(s, len(r.Warnings)-tableCases, "warning")
}

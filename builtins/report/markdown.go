package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/pexctl/pex/builtins/markdown"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

// Markdown writes a report for pull request comments and step summaries.
var Markdown = component.New("markdown", "Verdict, rates, gates, comparison and worst cases as GitHub Markdown, for comments and step summaries.", defaults,
	func(_ *config, s Settings) (Format, error) { return &markdownFormat{s}, nil })

type markdownFormat struct{ set Settings }

var (
	_ Format = (*markdownFormat)(nil)
	_ Tests  = (*markdownFormat)(nil)
	_ Diffs  = (*markdownFormat)(nil)
)

// Limits of parts that can be long. All together fit into a comment.
const (
	pageRows  = 20
	pageNames = 10
	nameWide  = 80
	textWide  = 200
)

// Write writes the report, most important parts first. Parts that exceed the size limit
// are omitted.
func (f *markdownFormat) Write(w io.Writer, r *report.Report, _ trial.Rows) error {
	p, view := newPage(f.set), newSurvey(r, pageRows)
	m, _ := headline(r)
	p.part(fmt.Sprintf("### %s %s: %s", m.sign, markdown.Code(r.Manifest.Suite, nameWide), verdictWords(r.Verdict)))
	if r.Reason != "" {
		p.part("**Why:** " + markdown.Prose(r.Reason, 3*textWide))
	}
	changeTables(p, changesOf(r.Comparison, r.Cases))
	rateTable(p, r, view)
	f.gateTable(p, r)
	if c := r.Comparison; c != nil {
		comparisonPart(p, c, r.Stats.PassRate)
	}
	worstTable(p, view)
	groupTable(p, r, view)
	checkTable(p, r)
	remarkList(p, r)
	p.part(f.origin(r, view))
	return p.writeTo(w)
}

// rateTable writes the rates of all cases and of the variants.
func rateTable(p *page, r *report.Report, view *survey) {
	rows := [][]string{{"", "pass rate", "95% interval", "passed", "errors", "cost/trial", "time/trial", "tokens/trial"}}
	for _, x := range append([]part{view.all}, view.variants...) {
		row := rateRow(x, r)
		row[0] = markdown.Cell(x.Name, nameWide)
		if strings.HasPrefix(row[5], "$") {
			row[5] = "`" + row[5] + "`"
		}
		if x.Name == view.all.Name {
			row[0] = "**all**"
		}
		rows = append(rows, row)
	}
	p.table(rows, 1, 8)
}

// codeDollars formats an amount as code, because GitHub treats $ as the start of a
// formula.
func codeDollars(usd float64) string { return "`" + dollars(usd) + "`" }

func (f *markdownFormat) gateTable(p *page, r *report.Report) {
	if len(r.Gates) == 0 {
		return
	}
	rows := [][]string{{"", "gate", "figures", "where"}}
	for _, g := range r.Gates[:min(len(r.Gates), pageRows)] {
		m, got := good, g.Got
		if !g.Pass {
			m = wrong
		}
		if len(g.Cases) > 0 {
			if got != "" {
				got += "; "
			}
			got += "fails for " + joinNames(g.Cases, pageNames)
		}
		if g.Error != "" {
			got = g.Error
		}
		name := markdown.Cell(g.Name, nameWide)
		if g.Expr != "" && g.Expr != g.Name {
			name += " " + markdown.Cell(g.Expr, nameWide)
		}
		rows = append(rows, []string{m.sign, name, markdown.Cell(got, textWide), markdown.Cell(f.set.at(g.File, g.Line), nameWide)})
	}
	p.table(rows, 0, 0)
	moreLine(p, len(r.Gates)-pageRows, "gate")
}

func comparisonPart(p *page, c *report.Comparison, now float64) {
	m := comparisonMark(c)
	out := fmt.Sprintf("**Compared with %s: %s %s.** %s.", markdown.Code(baselineName(c), nameWide), m.sign, markdown.Prose(c.Verdict, nameWide), markdown.Prose(difference(c, now), 2*textWide))
	if extra := power(c); extra != "" {
		out += " " + markdown.Prose(upper(extra), textWide) + "."
	}
	if c.GradingChange {
		out += " The checks differ from those of the baseline, so the results cannot be compared."
	}
	p.part(out + variantList(c))
	if len(c.Removed) > 0 {
		p.details(fmt.Sprintf("lost coverage: %s", text.Count(len(c.Removed), "case")), "- "+nameList(c.Removed))
	}
	if len(c.Added) > 0 {
		p.details(text.Count(len(c.Added), "new case"), "- "+nameList(c.Added))
	}
}

// variantList returns one line per variant, if there are several.
func variantList(c *report.Comparison) string {
	var b strings.Builder
	for i := range c.ByVariant {
		v, sign := &c.ByVariant[i], ""
		if v.Regressed {
			sign = wrong.sign + " "
		}
		b.WriteString("\n- " + sign + markdown.Code(v.Variant, nameWide) + ": " + markdown.Prose(variantWords(v), textWide))
	}
	return b.String()
}

// upper capitalizes the first letter, which must be ASCII.
func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func nameList(names []string) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = markdown.Code(name, nameWide)
	}
	return text.Some(out, pageRows)
}

func worstTable(p *page, view *survey) {
	if view.bad == 0 {
		return
	}
	inner := &page{maxBytes: defaultPageSize}
	rows := [][]string{{"case", "passed", "errors", "why"}}
	for _, c := range view.worst {
		rows = append(rows, []string{markdown.Cell(label(c.ID, c.Variant), nameWide), tally(report.PassCount{C: c.Passed, N: c.N}), strconv.Itoa(c.Errors), markdown.Cell(failureReason(&c), textWide)})
	}
	inner.table(rows, 1, 3)
	moreLine(inner, view.bad-len(view.worst), "case")
	p.details("failing cases", inner.b.String())
}

func groupTable(p *page, r *report.Report, view *survey) {
	if len(view.groups) == 0 {
		return
	}
	inner := &page{maxBytes: defaultPageSize}
	rows := [][]string{{"group", "pass rate", "95% interval", "passed", "errors"}}
	for _, x := range view.groups[:min(len(view.groups), pageRows)] {
		row := rateRow(x, r)[:5]
		row[0] = markdown.Cell(x.Name, nameWide)
		rows = append(rows, row)
	}
	inner.table(rows, 1, 5)
	moreLine(inner, len(view.groups)-pageRows, "group")
	p.details("groups, worst first", inner.b.String())
}

func checkTable(p *page, r *report.Report) {
	if len(r.Stats.ByCheck) < 2 {
		return
	}
	inner := &page{maxBytes: defaultPageSize}
	rows := [][]string{{"check", "pass rate", "trials"}}
	list := parts(r.Stats.ByCheck, checkNames(r))
	for _, x := range list[:min(len(list), pageRows)] {
		rows = append(rows, []string{markdown.Cell(x.Name, nameWide), rate(x.N, x.PassRate), passRate(&x.GroupStats)})
	}
	inner.table(rows, 1, 3)
	moreLine(inner, len(list)-pageRows, "check")
	p.details("pass rate per check", inner.b.String())
}

// remarkList lists errors, flaky and quarantined cases, and warnings.
func remarkList(p *page, r *report.Report) {
	var b strings.Builder
	for _, e := range r.Errors {
		fmt.Fprintf(&b, "- %s: %s\n", markdown.Prose(text.Count(e.Count, string(e.Kind)+" error"), nameWide), markdown.Code(e.Example, textWide))
	}
	if n := len(r.FlakyCases); n > 0 {
		fmt.Fprintf(&b, "- %s: %s\n", text.Count(n, "flaky case"), nameList(r.FlakyCases))
	}
	if len(r.Quarantined) > 0 {
		fmt.Fprintf(&b, "- %s: %s\n", quarantineText(r), nameList(r.Quarantined))
	}
	for i, text := range r.Warnings {
		if i == pageRows {
			fmt.Fprintf(&b, "- %d more warnings\n", len(r.Warnings)-i)
			break
		}
		fmt.Fprintf(&b, "- warning: %s\n", markdown.Prose(text, textWide))
	}
	if b.Len() > 0 {
		p.part(b.String())
	}
}

func moreLine(p *page, n int, of string) {
	if n > 0 {
		p.part(fmt.Sprintf("*and %d more %s*", n, text.Plural(n, of)))
	}
}

// origin describes what was run.
func (f *markdownFormat) origin(r *report.Report, view *survey) string {
	m := &r.Manifest
	text := fmt.Sprintf("%s; %s; %s of %s", scope(r, view.cases), usageText(r, codeDollars), markdown.Code(m.ID, nameWide), markdown.Code(f.set.file(m.File), nameWide))
	if m.Commit != "" {
		text += " at " + markdown.Code(brief(m.Commit), nameWide)
	}
	if m.Dirty {
		text += " with changes"
	}
	return "<sub>" + text + "</sub>"
}

// WriteDiff writes two evaluations side by side, and the cases that changed.
func (f *markdownFormat) WriteDiff(w io.Writer, d *Diff) error {
	p := newPage(f.set)
	rows := [][]string{{"", "before", "after", "change"}}
	for _, x := range append(origins(d), figures(d)...) {
		rows = append(rows, []string{markdown.Prose(x.name, nameWide), markdown.Cell(x.before, nameWide), markdown.Cell(x.after, nameWide), x.change})
	}
	p.table(rows, 1, 4)
	if d.Comparison != nil {
		changeTables(p, changesOf(d.Comparison, d.After.Cases))
		comparisonPart(p, d.Comparison, d.After.Stats.PassRate)
	} else {
		p.part("The evaluations have no case in common.")
	}
	return p.writeTo(w)
}

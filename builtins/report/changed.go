package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/builtins/markdown"
	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/eval/report"
)

// changed holds the cases that changed in one direction, significant changes first.
type changed struct {
	direction report.Direction
	cases     []changedCase
}

// changedCase is a case that changed, with its current statistics.
type changedCase struct {
	report.CaseChange
	now report.CaseStats
}

// directions lists the directions in report order.
var directions = []report.Direction{report.NewlyFailing, report.FailsMoreOften, report.NewlyPassing, report.FailsLessOften}

// changesOf groups the changes of a comparison by direction. It returns nil if c is nil.
func changesOf(c *report.Comparison, cases report.Cases) (out []changed) {
	if c == nil || len(c.Changes) == 0 {
		return nil
	}
	now := map[string]report.CaseStats{}
	for i := range c.Changes {
		now[label(c.Changes[i].Case, c.Changes[i].Variant)] = report.CaseStats{}
	}
	for _, x := range cases.All() {
		if _, ok := now[label(x.ID, x.Variant)]; ok {
			now[label(x.ID, x.Variant)] = x
		}
	}
	for _, d := range directions {
		group := changed{direction: d}
		for _, x := range c.Changes {
			if x.Direction() == d {
				group.cases = append(group.cases, changedCase{x, now[label(x.Case, x.Variant)]})
			}
		}
		if len(group.cases) > 0 {
			slices.SortStableFunc(group.cases, func(a, b changedCase) int { return significance(&b) - significance(&a) })
			out = append(out, group)
		}
	}
	return out
}

// worsened returns the cases that started to fail or fail more often.
func worsened(r *report.Report) (out []changedCase) {
	for _, c := range changesOf(r.Comparison, r.Cases) {
		if c.mark() == wrong {
			out = append(out, c.cases...)
		}
	}
	return out
}

func significance(c *changedCase) int {
	if c.Kind == report.ChangeRegressed || c.Kind == report.ChangeImproved {
		return 1
	}
	return 0
}

func (c *changed) mark() mark {
	if c.direction == report.NewlyFailing || c.direction == report.FailsMoreOften {
		return wrong
	}
	return good
}

// title returns a title such as "Newly failing (3)".
func (c *changed) title() string {
	return fmt.Sprintf("%s (%d)", upper(string(c.direction)), len(c.cases))
}

// rates returns the rates before and after, such as "3/3 → 0/3".
func (c *changedCase) rates() string { return tally(c.Before) + " → " + tally(c.After) }

// failure returns what a check expected and got, or why the case failed.
func (c *changedCase) failure() string {
	if c.now.Expected != "" {
		return fmt.Sprintf(`expected "%s", got "%s"`, c.now.Expected, c.now.Actual)
	}
	return failureReason(&c.now)
}

// changes lists the cases that changed, with question and answer for failing ones.
func changes(s *sheet, all []changed) {
	for i := range all {
		c := &all[i]
		s.title(c.title())
		for _, x := range c.cases[:min(len(c.cases), tableCases)] {
			line := x.rates() + "  " + label(x.Case, x.Variant)
			if x.now.Question != "" {
				line += "  " + x.now.Question
			}
			s.markedLine(c.mark(), line)
			if text := x.failure(); text != "" && x.After.C < x.After.N {
				s.line(tty.Dim, "             ", text)
			}
		}
		more(s, len(c.cases)-tableCases, "case")
	}
}

// changeTables writes one table per direction. Tables of failing cases are expanded.
func changeTables(p *page, all []changed) {
	for i := range all {
		c := &all[i]
		inner := &page{maxBytes: defaultPageSize}
		inner.table(c.rows(), 0, 0)
		moreLine(inner, len(c.cases)-pageRows, "case")
		inner.details("significance", c.significance())
		if c.mark() == wrong {
			p.part("**" + c.mark().sign + " " + c.title() + "**\n\n" + strings.TrimRight(inner.b.String(), "\n"))
		} else {
			p.details(c.mark().sign+" "+c.title(), inner.b.String())
		}
	}
}

// rows returns a table of the cases with question, expected and actual answer.
func (c *changed) rows() [][]string {
	if c.direction == report.NewlyPassing {
		rows := [][]string{{"case", "before", "now"}}
		for _, x := range c.cases[:min(len(c.cases), pageRows)] {
			rows = append(rows, []string{markdown.Cell(label(x.Case, x.Variant), nameWide), tally(x.Before), tally(x.After)})
		}
		return rows
	}
	rows := [][]string{{"case", "before", "now", "question", "expected", "actual"}}
	for _, x := range c.cases[:min(len(c.cases), pageRows)] {
		expected := x.now.Expected
		if expected == "" {
			expected = failureReason(&x.now)
		}
		rows = append(rows, []string{
			markdown.Cell(label(x.Case, x.Variant), nameWide), tally(x.Before), tally(x.After),
			cell(x.now.Question), cell(expected), cell(x.now.Actual),
		})
	}
	return rows
}

// cell formats a cell that may be empty.
func cell(s string) string {
	if s == "" {
		return ""
	}
	return markdown.Cell(s, textWide)
}

// significance lists the p-value of each change.
func (c *changed) significance() string {
	var b strings.Builder
	for _, x := range c.cases[:min(len(c.cases), pageRows)] {
		fmt.Fprintf(&b, "- %s: %s\n", markdown.Code(label(x.Case, x.Variant), nameWide), pvalue(x.P))
	}
	return b.String() + "\nFisher's exact test, adjusted for multiple comparisons (Benjamini-Hochberg).\n"
}

package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pexctl/pex/builtins/markdown"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/report"
)

// Limits of the description of a failed test.
const (
	pageProblems = 10
	pageLines    = 60
)

// WriteTests writes the failed tests with their problems.
func (f *markdownFormat) WriteTests(w io.Writer, r *report.TestReport) error {
	p := newPage(f.set)
	m := good
	if r.Failed > 0 || len(r.Unused) > 0 {
		m = wrong
	}
	p.part(fmt.Sprintf("### %s pexctl test: %s", m.sign, testCounts(r)))
	for i := range r.Cases {
		if c := &r.Cases[i]; failed(c) {
			p.details(wrong.sign+" "+markdown.Summary(c.Name, nameWide)+" "+markdown.Summary(f.set.at(c.File, c.Line), nameWide), f.problems(c))
		}
	}
	if len(r.Unused) > 0 {
		p.details(text.Count(len(r.Unused), "unused golden file"), "- "+nameList(r.Unused))
	}
	return p.writeTo(w)
}

// failed reports whether a case failed.
func failed(c *report.TestResult) bool {
	return c.Status == report.TestFailed || c.Status == report.TestError
}

// testCounts formats the number of tests per status.
func testCounts(r *report.TestReport) string {
	updated := 0
	for i := range r.Cases {
		if r.Cases[i].Status == report.TestUpdated {
			updated++
		}
	}
	parts := []string{fmt.Sprintf("%d passed", r.Passed)}
	if updated > 0 {
		parts[0] += fmt.Sprintf(" (%d updated)", updated)
	}
	if r.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", r.Failed))
	}
	if r.Skipped > 0 {
		parts = append(parts, fmt.Sprintf("%d skipped", r.Skipped))
	}
	return strings.Join(parts, ", ") + " in " + text.Duration(time.Duration(r.DurationMS)*time.Millisecond)
}

func (f *markdownFormat) problems(c *report.TestResult) string {
	var b strings.Builder
	for i := range c.Problems {
		if i == pageProblems {
			fmt.Fprintf(&b, "*and %d more problems*\n", len(c.Problems)-i)
			break
		}
		x := &c.Problems[i]
		fmt.Fprintf(&b, "%s\n\n", text.OneLine("**"+markdown.Prose(string(x.Kind), nameWide)+"** "+markdown.Code(x.Where, nameWide)+" "+markdown.Code(x.Message, textWide)))
		if at := f.set.at(x.File, x.Line); at != "" {
			fmt.Fprintf(&b, "caused by %s\n\n", markdown.Code(at, nameWide))
		}
		b.WriteString(contrast(x.Expected, x.Actual, x.Diff))
	}
	return b.String()
}

// contrast returns a diff, or the expected and actual text.
func contrast(expected, actual, diff string) string {
	if diff != "" {
		return markdown.Block("diff", diff, pageLines) + "\n"
	}
	out := ""
	if expected != "" {
		out += "expected\n\n" + markdown.Block("", expected, pageLines/4) + "\n"
	}
	if actual != "" {
		out += "actual\n\n" + markdown.Block("", actual, pageLines/4) + "\n"
	}
	return out
}

package report

import (
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/report"
)

// WriteTests writes one suite per test file.
func (f *junitFormat) WriteTests(w io.Writer, r *report.TestReport) error {
	var suites []*xmlSuite
	total := xmlSuite{Name: "pexctl test", Time: xmlSeconds(float64(r.DurationMS))}
	byFile, spent := map[string]*xmlSuite{}, map[string]float64{}
	for i := range r.Cases {
		c := &r.Cases[i]
		s := byFile[c.File]
		if s == nil {
			file := xmlText(f.set.file(c.File))
			s = &xmlSuite{Name: strings.TrimSuffix(file, path.Ext(file)), File: file}
			byFile[c.File], suites = s, append(suites, s)
		}
		spent[c.File] += c.DurationMS
		s.Cases = append(s.Cases, f.testResult(s, c))
		s.count(c.Status)
		total.count(c.Status)
		s.Time = xmlSeconds(spent[c.File])
	}
	if len(r.Unused) > 0 {
		suites = append(suites, unusedSuite(f.set, r))
		total.Tests, total.Failures = total.Tests+1, total.Failures+1
	}
	x := newXML(w)
	x.open("testsuites", total)
	for _, s := range suites {
		x.element("testsuite", s)
	}
	x.end("testsuites")
	return x.close()
}

// count adds a case to the totals of a suite.
func (s *xmlSuite) count(status report.TestStatus) {
	s.Tests++
	switch status {
	case report.TestFailed:
		s.Failures++
	case report.TestError:
		s.Errors++
	case report.TestSkipped:
		s.Skipped++
	case report.TestPassed, report.TestUpdated:
	}
}

// unusedSuite is a failed test that lists the golden files that no case uses.
func unusedSuite(set Settings, r *report.TestReport) *xmlSuite {
	files := make([]string, len(r.Unused))
	for i, file := range r.Unused {
		files[i] = set.file(file)
	}
	const name = "golden files"
	return &xmlSuite{Name: name, Tests: 1, Failures: 1, Time: xmlSeconds(0), Cases: []xmlCase{{
		Name: "every golden file is used", Class: name, Time: xmlSeconds(0),
		Failure: &xmlProblem{Type: string(report.ProblemUnused), Message: "no test uses " + text.Count(len(files), "golden file"), Text: xmlText(firstPart(strings.Join(files, "\n"), maxStory))},
	}}}
}

func (f *junitFormat) testResult(s *xmlSuite, c *report.TestResult) xmlCase {
	out := xmlCase{Name: xmlText(c.Name), Class: s.Name, Time: xmlSeconds(c.DurationMS)}
	out.place(f.set, f.set.file(c.File), c.Line)
	switch c.Status {
	case report.TestFailed:
		out.Failure = f.testProblem(c)
	case report.TestError:
		out.Error = f.testProblem(c)
	case report.TestSkipped:
		out.Skipped = &xmlProblem{Message: "skipped"}
	case report.TestUpdated:
		out.Out = &xmlOutput{"golden files were rewritten\n"}
	case report.TestPassed:
	}
	return out
}

// testProblem combines all problems of a case, since many readers show only the first.
func (f *junitFormat) testProblem(c *report.TestResult) *xmlProblem {
	out := &xmlProblem{Type: "error", Message: "failed"}
	var b strings.Builder
	fmt.Fprintln(&b, f.set.at(c.File, c.Line))
	for i := range c.Problems {
		x := &c.Problems[i]
		if i == 0 {
			out.Type, out.Message = string(x.Kind), xmlText(problemLine(x))
		}
		fmt.Fprintf(&b, "\n%s: %s\n", x.Kind, problemLine(x))
		if at := f.set.at(x.File, x.Line); at != "" {
			fmt.Fprintf(&b, "caused by %s\n", at)
		}
		for _, t := range []struct{ label, text string }{{"expected: ", x.Expected}, {"actual: ", x.Actual}, {"", x.Diff}} {
			if t.text != "" {
				fmt.Fprintln(&b, t.label+strings.TrimRight(t.text, "\n"))
			}
		}
	}
	if n := len(c.Problems); n > 1 {
		out.Message += fmt.Sprintf(" (and %d more %s)", n-1, text.Plural(n-1, "problem"))
	}
	out.Text = xmlText(firstPart(b.String(), maxStory))
	return out
}

// problemLine formats the position and the message of a problem on one line.
func problemLine(x *report.Problem) string {
	if x.Where == "" {
		return x.Message
	}
	return x.Where + ": " + x.Message
}

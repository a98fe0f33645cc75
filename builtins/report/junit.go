package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

// JUnit writes a report for CI servers. By default it follows the schema of Jenkins'
// xunit plugin (junit-10.xsd), which has no files and properties of a test case: they are
// written to its output, properties in the notation [[PROPERTY|name=value]]. With
// Settings.Locations they are attributes and elements, which GitLab and the reporters of
// GitHub read.
var JUnit = component.New("junit", "JUnit XML: one test case per case and variant, and one per gate.", defaults,
	func(_ *config, s Settings) (Format, error) { return &junitFormat{s}, nil })

type junitFormat struct{ set Settings }

var (
	_ Format = (*junitFormat)(nil)
	_ Tests  = (*junitFormat)(nil)
)

// Write writes a suite of the cases and one of the gates. Rows in the order of the cases
// are streamed; others are buffered.
func (f *junitFormat) Write(w io.Writer, r *report.Report, rows trial.Rows) error {
	m := &r.Manifest
	gates := gateSuite(f.set, r)
	head := xmlSuite{
		Name: m.Suite, Tests: r.Cases.Len(), Time: xmlSeconds(float64(r.DurationMS)), File: f.set.file(m.File),
		Timestamp: m.Started.UTC().Format("2006-01-02T15:04:05"),
	}
	for _, c := range r.Cases.All() {
		switch caseStatus(r, &c) {
		case caseFailed:
			head.Failures++
		case caseErrored:
			head.Errors++
		case caseSkipped:
			head.Skipped++
		case casePassed:
		}
	}
	x := newXML(w)
	x.open("testsuites", xmlSuite{
		Name: m.Suite, Tests: head.Tests + gates.Tests, Failures: head.Failures + gates.Failures, Errors: head.Errors + gates.Errors,
		Time: head.Time,
	})
	x.open("testsuite", head)
	x.properties(suiteProperties(r))
	if err := f.cases(x, r, rows); err != nil {
		return err
	}
	x.end("testsuite")
	if gates.Tests > 0 {
		x.element("testsuite", gates)
	}
	x.end("testsuites")
	return x.close()
}

func suiteProperties(r *report.Report) []xmlProperty {
	m := &r.Manifest
	out := []xmlProperty{{"eval", m.ID}, {"verdict", string(r.Verdict)}, {"reason", r.Reason}, {"suite digest", m.Digest}, {"dataset digest", m.DatasetHash}}
	if m.Commit != "" {
		out = append(out, xmlProperty{"git commit", m.Commit})
	}
	for _, v := range m.Variants {
		out = append(out, xmlProperty{strings.TrimSpace("spec " + v.Name), v.Spec.Digest})
	}
	out = slices.DeleteFunc(out, func(p xmlProperty) bool { return p.Value == "" })
	for i := range out {
		out[i] = xmlProperty{xmlText(out[i].Name), xmlText(out[i].Value)}
	}
	return out
}

// status is the JUnit status of a case.
type status int

const (
	casePassed  status = iota
	caseFailed         // a trial failed
	caseErrored        // no trial could be graded
	caseSkipped        // quarantined and failing, or not run
)

func caseStatus(r *report.Report, c *report.CaseStats) status {
	switch {
	case isBad(c) && quarantined(r, c):
		return caseSkipped
	case c.Passed < c.N:
		return caseFailed
	case c.N == 0 && c.Errors > 0:
		return caseErrored
	case c.N == 0:
		return caseSkipped
	}
	return casePassed
}

func quarantined(r *report.Report, c *report.CaseStats) bool {
	return slices.Contains(r.Quarantined, c.ID) || slices.Contains(r.Quarantined, label(c.ID, c.Variant))
}

// cases writes the test cases in report order.
func (f *junitFormat) cases(x *xmlWriter, r *report.Report, rows trial.Rows) error {
	next, waiting := 0, map[trial.Key]*history{}
	for row, err := range rows() {
		if err != nil {
			return err
		}
		key := trial.Key{Case: row.Case, Variant: row.Variant}
		if waiting[key] == nil {
			waiting[key] = &history{}
		}
		waiting[key].add(row)
		for ; next < r.Cases.Len(); next++ {
			c := r.Cases.At(next)
			key := trial.Key{Case: c.ID, Variant: c.Variant}
			if !waiting[key].complete(&c) {
				break
			}
			x.element("testcase", f.testCase(r, &c, waiting[key]))
			delete(waiting, key)
		}
	}
	for ; next < r.Cases.Len(); next++ {
		c := r.Cases.At(next)
		x.element("testcase", f.testCase(r, &c, waiting[trial.Key{Case: c.ID, Variant: c.Variant}]))
	}
	return x.err
}

// testCase returns one case of one variant. h may be nil.
func (f *junitFormat) testCase(r *report.Report, c *report.CaseStats, h *history) xmlCase {
	out := xmlCase{Name: xmlText(label(c.ID, c.Variant)), Class: xmlText(r.Manifest.Suite), Group: xmlText(c.Group), Time: xmlSeconds(h.milliseconds())}
	place := f.set.at(source(&r.Manifest), c.Line)
	out.place(f.set, f.set.file(source(&r.Manifest)), c.Line)
	out.addProperties(f.set, h.properties())
	body := xmlText(place + "\n" + h.story(f.set, r))
	switch caseStatus(r, c) {
	case caseFailed:
		message := fmt.Sprintf("passed %d of %s", c.Passed, text.Count(c.N, "trial"))
		if text := failureReason(c); text != "" {
			message += ": " + text
		}
		out.Failure = &xmlProblem{Type: "check", Message: xmlText(message), Text: body}
	case caseErrored:
		kind, message := h.fault()
		out.Error = &xmlProblem{Type: xmlText(kind), Message: xmlText(message), Text: body}
	case caseSkipped:
		message := "not run"
		if isBad(c) {
			message = fmt.Sprintf("in quarantine: passed %d of %s", c.Passed, text.Count(c.N, "trial"))
		}
		out.Skipped = &xmlProblem{Message: xmlText(message)}
	case casePassed:
	}
	return out
}

// gateSuite returns the gates and the comparison as test cases.
func gateSuite(set Settings, r *report.Report) *xmlSuite {
	out := &xmlSuite{Name: xmlText(r.Manifest.Suite + " gates"), Time: "0.000", Timestamp: r.Manifest.Started.UTC().Format(time.RFC3339)[:19]}
	add := func(name, file string, line int, failure *xmlProblem) {
		x := xmlCase{Name: xmlText(name), Class: out.Name, Time: "0.000", Failure: failure}
		x.place(set, set.file(file), line)
		out.Cases = append(out.Cases, x)
		out.Tests++
		if failure != nil {
			out.Failures++
		}
	}
	for i := range r.Gates {
		g := &r.Gates[i]
		add(g.Name, g.File, g.Line, gateProblem(set, g))
	}
	if c := r.Comparison; c != nil {
		var failure *xmlProblem
		if r.Verdict == report.VerdictRegressed {
			failure = &xmlProblem{Type: "regressed", Message: xmlText(difference(c, r.Stats.PassRate)), Text: xmlText(changeList(c))}
		}
		add("not worse than "+c.Ref, r.Manifest.File, 0, failure)
	}
	return out
}

func gateProblem(set Settings, g *report.GateResult) *xmlProblem {
	if g.Pass {
		return nil
	}
	message, body := gateText(g), set.at(g.File, g.Line)
	if g.Error != "" {
		message = g.Error
	}
	if len(g.Cases) > 0 {
		body += "\nfails for " + strings.Join(g.Cases[:min(len(g.Cases), 100)], "\nfails for ")
	}
	return &xmlProblem{Type: "gate", Message: xmlText(message), Text: xmlText(body)}
}

func changeList(c *report.Comparison) string {
	var lines []string
	for _, x := range c.Changes[:min(len(c.Changes), 100)] {
		lines = append(lines, fmt.Sprintf("%s: %s was %s, is %s", x.Kind, label(x.Case, x.Variant), tally(x.Before), tally(x.After)))
	}
	return strings.Join(lines, "\n")
}

package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/eval/fold"
	"github.com/pexctl/pex/eval/golden"
	"github.com/pexctl/pex/eval/testcase"
)

// How much of a problem is shown; --review and -o json have all of it.
const (
	mostDiff = 30 // lines
	mostText = 12
)

// testPrinter writes what tests came to as people read it.
type testPrinter struct {
	w     io.Writer
	o     *testOptions
	color bool
}

func (p *testPrinter) ink(ink tty.Ink, s string) string { return tty.Pen{Color: p.color}.Ink(ink, s) }

func (p *testPrinter) line(format string, args ...any) { fmt.Fprintf(p.w, format+"\n", args...) }

// all writes the failures of each spec and a line for it, in the order of the
// plan.
func (p *testPrinter) all(plan *testPlan, done *testsDone, r *testReport) {
	for _, name := range specNames(plan) {
		t := tally{name: name}
		for i := range plan.cases {
			if plan.cases[i].unit.name == name {
				t.add(done.outcomes[i])
				p.outcome(done.outcomes[i])
			}
		}
		p.spec(t)
	}
	for _, file := range r.Unused {
		p.line("%s no case asks for the golden file %s", p.ink(tty.Red, "FAIL"), fitFor(p.w, file))
	}
	p.coverage(r.Coverage)
	if n := len(r.Cases); n > 1 && len(specNames(plan)) > 1 && !p.o.quiet {
		p.line("%s: %d passed, %d failed", count(n, "test"), r.Passed, r.Failed)
	}
}

// specNames are the names of the specs under test, each once.
func specNames(plan *testPlan) []string {
	var out []string
	seen := map[string]bool{}
	for i := range plan.cases {
		if name := plan.cases[i].unit.name; !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}

// tally is what the cases of a spec came to.
type tally struct {
	name                      string
	all, failed, updated, old int
	ms                        float64
}

func (t *tally) add(out *testcase.Outcome) {
	t.all++
	t.ms += out.DurationMS
	switch out.Status {
	case fold.TestFailed, fold.TestError:
		t.failed++
	case fold.TestUpdated:
		t.updated++
	case fold.TestPassed, fold.TestSkipped:
	}
	if out.Stale != nil {
		t.old++
	}
}

// spec is the one line of a spec.
func (p *testPrinter) spec(t tally) {
	if t.failed > 0 {
		p.line("%s  %s  %d of %s failed  %s", p.ink(tty.Red, "FAIL"), t.name, t.failed, count(t.all, "test"), milli(t.ms))
		return
	}
	if p.o.quiet {
		return
	}
	var more []string
	if t.updated > 0 {
		more = append(more, count(t.updated, "golden case")+" updated")
	}
	if t.old > 0 {
		more = append(more, count(t.old, "stale cassette"))
	}
	note := ""
	if len(more) > 0 {
		note = "  (" + strings.Join(more, ", ") + ")"
	}
	p.line("%s    %s  %s  %s%s", p.ink(tty.Green, "ok"), t.name, count(t.all, "test"), milli(t.ms), note)
}

// outcome is everything that is wrong with a case.
func (p *testPrinter) outcome(out *testcase.Outcome) {
	for _, ch := range out.Changes {
		if p.o.update && !p.o.quiet {
			p.line("%s %s", map[golden.Kind]string{golden.Missing: "wrote", golden.Changed: "rewrote"}[ch.Kind], shownPath(ch.File))
		}
	}
	if out.Status != fold.TestFailed && out.Status != fold.TestError {
		return
	}
	where := shownPath(out.File)
	if out.Line > 0 {
		where = fmt.Sprintf("%s:%d", where, out.Line)
	}
	p.line("%s %s  %s", p.ink(tty.Red, "--- FAIL:"), p.ink(tty.Bold, fitFor(p.w, out.Name)), p.ink(tty.Dim, where))
	for i := range out.Problems {
		p.problem(out, &out.Problems[i])
	}
}

// unnamed is what expressions are called that nobody named.
var unnamed = regexp.MustCompile(`^expr(_\d+)?$`)

// problem is one thing that is wrong: what, where, why.
func (p *testPrinter) problem(out *testcase.Outcome, x *fold.Problem) {
	head := x.Message
	switch {
	case x.Message == "":
		head = x.Where
	case unnamed.MatchString(x.Where): // the message holds the expression
	case x.Where != "" && (x.Kind == fold.ProblemCheck || x.Kind == fold.ProblemTrajectory || x.Kind == fold.ProblemError):
		head = x.Where + ": " + x.Message
	}
	p.indented("    ", head)
	ch, changed := changeOf(out, x)
	if changed {
		for _, cause := range ch.Causes {
			p.line("      %s", p.ink(tty.Yellow, fitFor(p.w, cause.String())))
		}
	} else if x.File != "" && x.Line > 0 && x.Line != out.Line {
		p.line("      %s", p.ink(tty.Dim, fmt.Sprintf("%s:%d", shownPath(x.File), x.Line)))
	}
	switch {
	case changed && p.o.review: // it is shown when it is asked about
	case changed:
		p.diff(ch.Diff())
	case x.Diff != "":
		p.text("      ", x.Diff, true)
	case x.Kind == fold.ProblemMissing, x.Kind == fold.ProblemUnused:
	default:
		p.sides(x)
	}
}

// sides are what a check wanted and what there was.
func (p *testPrinter) sides(x *fold.Problem) {
	for _, side := range []struct{ name, text string }{{"expected", x.Expected}, {"actual", x.Actual}} {
		switch {
		case side.text == "":
		case strings.Contains(strings.TrimSpace(side.text), "\n"):
			p.line("      %s:", side.name)
			p.text("        ", side.text, false)
		default:
			p.line("      %-9s %s", side.name+":", fitFor(p.w, strings.TrimSpace(side.text)))
		}
	}
}

// changeOf is the golden that a problem is about.
func changeOf(out *testcase.Outcome, x *fold.Problem) (golden.Change, bool) {
	if x.Kind != fold.ProblemGolden {
		return golden.Change{}, false
	}
	for _, ch := range out.Changes {
		if shownPath(ch.File) == x.Where {
			return ch, true
		}
	}
	return golden.Change{}, false
}

func (p *testPrinter) diff(d golden.Diff) {
	if !p.color {
		p.raw("      ", fitFor(p.w, d.Unified(mostDiff)))
		return
	}
	p.raw("      ", d.Colour(mostDiff, tty.Safe))
}

// text is a text of several lines, a diff in color.
func (p *testPrinter) text(indent, s string, diff bool) {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	most := mostText
	if diff {
		most = mostDiff
	}
	left := len(lines) - most
	if left > 0 {
		lines = lines[:most]
	}
	for _, l := range lines {
		l = fitFor(p.w, l)
		if ink := tty.Ink(inkOf(l)); diff && p.color {
			l = p.ink(ink, l)
		}
		p.line("%s%s", indent, l)
	}
	if left > 0 {
		p.line("%s... %d more %s (-o json has all)", indent, left, plural(left, "line"))
	}
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// indented is a message whose first line stands out.
func (p *testPrinter) indented(indent, s string) {
	first, rest, _ := strings.Cut(fitFor(p.w, s), "\n")
	p.line("%s%s", indent, first)
	if rest != "" {
		p.text(indent+"  ", rest, false)
	}
}

// raw is lines that are fit for the stream already.
func (p *testPrinter) raw(indent, s string) {
	for l := range strings.Lines(s) {
		fmt.Fprint(p.w, indent+strings.TrimRight(l, "\n")+"\n")
	}
}

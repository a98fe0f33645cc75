package testcmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/golden"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/testcase"
	"github.com/pexctl/pex/internal/app/fspath"
)

// Limits for showing a problem; --review and -o json show everything.
const (
	mostDiff = 30 // lines
	mostText = 12
)

// testPrinter prints the results of tests.
type testPrinter struct {
	w            io.Writer
	o            *testOptions
	color        bool
	shownChanges map[string]string // changes of golden files already shown, with their case
}

func (p *testPrinter) ink(ink tty.Ink, s string) string { return tty.Pen{Color: p.color}.Ink(ink, s) }

func (p *testPrinter) line(format string, args ...any) { fmt.Fprintf(p.w, format+"\n", args...) }

// all prints the failures of each spec and a summary line for it, in the order of
// the plan.
func (p *testPrinter) all(plan *testPlan, done *testOutcomes, r *report.TestReport, removed []golden.Change) {
	names := specNames(plan)
	for _, name := range names {
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
		p.line("%s unused golden file %s", p.ink(tty.Red, "FAIL"), ui.Safe(p.w, file))
	}
	for _, ch := range removed {
		if !p.o.quiet {
			p.line("removed unused %s", ui.Safe(p.w, fspath.Shown(ch.File)))
		}
	}
	p.coverage(r.Coverage)
	switch {
	case p.o.quiet:
	case len(r.Cases) == 0:
		p.line("no tests in shard %d of %d", p.o.shard.i, p.o.shard.n)
	case len(names) > 1:
		p.line("%s: %d passed, %d failed", ui.Count(len(r.Cases), "test"), r.Passed, r.Failed)
	}
}

// specNames returns the names of the specs under test, each once.
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

// tally is the summary of the cases of a spec.
type tally struct {
	name                      string
	all, failed, updated, old int
	ms                        float64
}

func (t *tally) add(out *testcase.Outcome) {
	t.all++
	t.ms += out.DurationMS
	switch out.Status {
	case report.TestFailed, report.TestError:
		t.failed++
	case report.TestUpdated:
		t.updated++
	case report.TestPassed, report.TestSkipped:
	}
	if out.Stale != nil {
		t.old++
	}
}

// spec prints the summary line of a spec.
func (p *testPrinter) spec(t tally) {
	if t.failed > 0 {
		p.line("%s  %s  %d of %s failed  %s", p.ink(tty.Red, "FAIL"), t.name, t.failed, ui.Count(t.all, "test"), milli(t.ms))
		return
	}
	if p.o.quiet {
		return
	}
	var more []string
	if t.updated > 0 {
		more = append(more, ui.Count(t.updated, "golden case")+" updated")
	}
	if t.old > 0 {
		more = append(more, ui.Count(t.old, "stale cassette"))
	}
	note := ""
	if len(more) > 0 {
		note = "  (" + strings.Join(more, ", ") + ")"
	}
	p.line("%s    %s  %s  %s%s", p.ink(tty.Green, "ok"), t.name, ui.Count(t.all, "test"), milli(t.ms), note)
}

// outcome prints all problems of a case.
func (p *testPrinter) outcome(out *testcase.Outcome) {
	for _, ch := range out.Changes {
		if p.o.update && !p.o.quiet {
			p.line("%s %s", map[golden.Kind]string{golden.Missing: "wrote", golden.Changed: "rewrote"}[ch.Kind], ui.Safe(p.w, fspath.Shown(ch.File)))
		}
	}
	if out.Status != report.TestFailed && out.Status != report.TestError {
		return
	}
	where := fspath.Shown(out.File)
	if out.Line > 0 {
		where = fmt.Sprintf("%s:%d", where, out.Line)
	}
	p.line("%s %s  %s", p.ink(tty.Red, "--- FAIL:"), p.ink(tty.Bold, ui.Safe(p.w, out.Name)), p.ink(tty.Dim, ui.Safe(p.w, where)))
	again := repeats{}
	for i := range out.Problems {
		x := &out.Problems[i]
		ch, changed := p.changeOf(out, x)
		if changed && p.isRepeated(ch, out.Name, &again) {
			continue
		}
		p.problem(out, x, ch, changed)
	}
	p.repeats(again)
}

// repeats are golden files with a change that was already shown: of this case,
// and of others.
type repeats struct{ here, there, cases []string }

// isRepeated reports whether a change was already shown for another golden file,
// and records it: a word that occurs in every prompt is shown once.
func (p *testPrinter) isRepeated(ch golden.Change, name string, again *repeats) bool {
	key := fmt.Sprint(ch.Diff().Changed(), ch.Causes)
	first, known := p.shownChanges[key]
	switch {
	case !known:
		p.shownChanges[key] = name
	case first == name:
		again.here = append(again.here, ch.Name)
	default:
		again.there = append(again.there, ch.Name)
		if of := `"` + first + `"`; !slices.Contains(again.cases, of) {
			again.cases = append(again.cases, of)
		}
	}
	return known
}

func (p *testPrinter) repeats(r repeats) {
	if len(r.here) > 0 {
		p.line("    %s changed in the same way", ui.List(r.here))
	}
	if len(r.there) > 0 {
		p.line("    %s changed in the same way as in %s", ui.List(r.there), ui.Safe(p.w, ui.List(r.cases)))
	}
}

// unnamed matches the generated names of expressions.
var unnamed = text.Regexp(`^expr(_\d+)?$`)

// problem prints one problem: what, where, why.
func (p *testPrinter) problem(out *testcase.Outcome, x *report.Problem, ch golden.Change, changed bool) {
	head := sentenceOf(x)
	p.indented("    ", head)
	if changed {
		for _, cause := range ch.Causes {
			p.line("      %s", p.ink(tty.Yellow, ui.Safe(p.w, cause.String())))
		}
	} else if x.File != "" && x.Line > 0 && x.Line != out.Line {
		p.line("      %s", p.ink(tty.Dim, fmt.Sprintf("%s:%d", fspath.Shown(x.File), x.Line)))
	}
	switch {
	case changed && p.o.review: // shown during the review
	case changed:
		p.diff(ch.Diff())
	case x.Diff != "":
		p.text("      ", x.Diff, true)
	case x.Kind == report.ProblemMissing, x.Kind == report.ProblemUnused:
	default:
		p.printSides(x, head)
	}
}

// sentenceOf returns a problem as a sentence, with its subject if the message
// does not have it.
func sentenceOf(x *report.Problem) string {
	switch {
	case x.Message == "":
		return x.Where
	case unnamed().MatchString(x.Where), x.Where == "", strings.HasPrefix(x.Message, x.Where):
		return x.Message
	case x.Kind == report.ProblemCheck && x.Where == "run", strings.Contains(x.Message, x.Where):
		return x.Message
	case x.Kind == report.ProblemCheck, x.Kind == report.ProblemTrajectory, x.Kind == report.ProblemError:
		return x.Where + ": " + x.Message
	}
	return x.Message
}

// printSides prints the expected and actual value of a check, unless the head contains
// them.
func (p *testPrinter) printSides(x *report.Problem, head string) {
	for _, side := range []struct{ name, text string }{{"expected", x.Expected}, {"actual", x.Actual}} {
		switch {
		case side.text == "", strings.Contains(head, strings.TrimSpace(side.text)):
		case strings.Contains(strings.TrimSpace(side.text), "\n"):
			p.line("      %s:", side.name)
			p.text("        ", side.text, false)
		default:
			p.line("      %-9s %s", side.name+":", ui.Safe(p.w, strings.TrimSpace(side.text)))
		}
	}
}

// changeOf returns the pending change of a golden file for a problem.
func (p *testPrinter) changeOf(out *testcase.Outcome, x *report.Problem) (golden.Change, bool) {
	if x.Kind != report.ProblemGolden || p.o.update {
		return golden.Change{}, false
	}
	for _, ch := range out.Changes {
		if fspath.Shown(ch.File) == x.Where {
			return ch, true
		}
	}
	return golden.Change{}, false
}

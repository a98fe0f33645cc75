package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

// GitHub writes annotations for files of a pull request, as workflow commands in the log
// of a GitHub Actions step. The summary of the step is Markdown.
var GitHub = component.New("github", "GitHub Actions annotations, worst first, at most ten; the last one counts the rest.", defaults,
	func(_ *config, s Settings) (Format, error) { return &githubFormat{s}, nil })

type githubFormat struct{ set Settings }

var (
	_ Format = (*githubFormat)(nil)
	_ Tests  = (*githubFormat)(nil)
)

// maxAnnotations is the maximum number of annotations before one that counts the rest. GitHub
// shows ten of a kind per step.
const maxAnnotations = 9

// annotation is a message for a line of a file.
type annotation struct {
	file    string
	line    int
	title   string
	message string
}

// Write writes failed gates, newly failing cases, and other failing cases. If the verdict
// is good, they are warnings.
func (f *githubFormat) Write(w io.Writer, r *report.Report, _ trial.Rows) error {
	list, known := f.gates(r), map[string]int{}
	all := len(list)
	if r.Comparison != nil {
		worse := worsened(r)
		known = caseLines(r, worse)
		list = append(list, f.regressed(r, worse[:min(len(worse), maxAnnotations)], known)...)
		all += len(worse)
	}
	view := newSurvey(r, maxAnnotations+len(known))
	for _, c := range view.worst {
		if _, found := known[label(c.ID, c.Variant)]; !found {
			list = append(list, f.failing(r, &c))
		}
	}
	all += view.bad
	for _, c := range r.Cases.All() {
		if _, found := known[label(c.ID, c.Variant)]; found && isBad(&c) && !quarantined(r, &c) {
			all--
		}
	}
	level := "error"
	if r.Verdict == report.VerdictPassed {
		level = "warning"
	}
	return f.write(w, level, list, all, "of "+r.Manifest.Suite+": see the step summary")
}

// caseLines returns the dataset lines of the changed cases.
func caseLines(r *report.Report, changes []changedCase) map[string]int {
	out := make(map[string]int, len(changes))
	for _, c := range changes {
		out[label(c.Case, c.Variant)] = 0
	}
	for _, c := range r.Cases.All() {
		if _, ok := out[label(c.ID, c.Variant)]; ok {
			out[label(c.ID, c.Variant)] = c.Line
		}
	}
	return out
}

func (f *githubFormat) failing(r *report.Report, c *report.CaseStats) annotation {
	message := trialsText(c)
	if c.N > 0 {
		message = "passed " + message
	}
	if text := failureReason(c); text != "" {
		message += ": " + text
	}
	return annotation{source(&r.Manifest), c.Line, r.Manifest.Suite + ": " + label(c.ID, c.Variant), message}
}

// gates returns the failed gates or, if all passed and the verdict is bad, the verdict.
func (f *githubFormat) gates(r *report.Report) []annotation {
	var out []annotation
	for i := range r.Gates {
		g := &r.Gates[i]
		if g.Pass {
			continue
		}
		text := gateText(g)
		if g.Error != "" {
			text += ": " + g.Error
		}
		if len(g.Cases) > 0 {
			text += ": fails for " + joinNames(g.Cases, tableNames)
		}
		out = append(out, annotation{g.File, g.Line, r.Manifest.Suite + ": gate failed", text})
	}
	if len(out) == 0 && r.Verdict != report.VerdictPassed {
		_, head := headline(r)
		out = append(out, annotation{r.Manifest.File, 0, head, r.Reason})
	}
	return out
}

// regressed returns the cases that became worse.
func (f *githubFormat) regressed(r *report.Report, list []changedCase, lines map[string]int) []annotation {
	var out []annotation
	for _, c := range list {
		name := label(c.Case, c.Variant)
		message := fmt.Sprintf("%s compared with %s: %s", c.Direction(), baselineName(r.Comparison), c.rates())
		if text := c.failure(); text != "" {
			message += "; " + text
		}
		out = append(out, annotation{source(&r.Manifest), lines[name], r.Manifest.Suite + ": " + name, message})
	}
	return out
}

// WriteTests writes the problems of tests, errors first.
func (f *githubFormat) WriteTests(w io.Writer, r *report.TestReport) error {
	var list []annotation
	for _, status := range []report.TestStatus{report.TestError, report.TestFailed} {
		for i := range r.Cases {
			if c := &r.Cases[i]; c.Status == status {
				list = append(list, testAnnotations(c)...)
			}
		}
	}
	for _, file := range r.Unused {
		list = append(list, annotation{file, 0, "unused golden file", "no test uses " + file})
	}
	return f.write(w, "error", list, len(list), "of the tests: see the step summary")
}

func testAnnotations(c *report.TestResult) []annotation {
	if len(c.Problems) == 0 {
		return []annotation{{c.File, c.Line, c.Name, string(c.Status)}}
	}
	var out []annotation
	for i := range c.Problems {
		x := &c.Problems[i]
		a := annotation{x.File, x.Line, c.Name, fmt.Sprintf("%s: %s", x.Kind, problemLine(x))}
		if a.file == "" {
			a.file, a.line = c.File, c.Line
		}
		if x.Diff != "" {
			a.message += "\n" + firstLines(x.Diff, 20)
		}
		out = append(out, a)
	}
	return out
}

func firstLines(s string, n int) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	if len(lines) > n {
		lines = append(lines[:n], fmt.Sprintf("… %d more %s", len(lines)-n, text.Plural(len(lines)-n, "line")))
	}
	return strings.Join(lines, "\n")
}

// write writes at most githubMost annotations, and one that counts the rest.
func (f *githubFormat) write(w io.Writer, level string, list []annotation, all int, of string) error {
	const messageMost = 4000
	var b strings.Builder
	for _, a := range list[:min(len(list), maxAnnotations)] {
		command := diag.Annotation{Level: level, Line: a.line, Title: tty.Safe(tty.OneLine(a.title, textWide)), Message: tty.Safe(firstPart(a.message, messageMost))}
		if a.file != "" {
			command.File = tty.Safe(f.set.file(a.file))
		}
		b.WriteString(command.String())
	}
	if more := all - min(len(list), maxAnnotations); more > 0 {
		text := fmt.Sprintf("and %d more %s %s", more, text.Plural(more, "problem"), of)
		b.WriteString(diag.Annotation{Level: level, Title: "pexctl", Message: tty.Safe(text)}.String())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

package trajectory

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
)

// Actual is a call that a run made.
type Actual struct {
	Step   string // its id
	Tool   string
	Args   any // decoded, numbers as json.Number; a string if the arguments were not JSON
	Status tool.CallStatus
}

// Report is the result of comparing a run with an Expectation.
type Report struct {
	Pass bool
	// Score is the share of expected calls that were made; for Exact and AnyOrder the F1 score, so that extra
	// calls count; for Subset the share of actual calls that were expected. It is 0 if there are Problems.
	Score    float64
	Lines    []Line   // nil = calls were not compared
	Problems []string // forbidden tools and exceeded bounds, one sentence each
}

// maxActual is the maximum number of a run's calls that are compared.
const maxActual = 2000

// Compare compares the steps and statistics of a run with the expectation, which must have passed Check.
func (e *Expectation) Compare(steps []plan.StepRecord, figures *exprenv.Trace) Report {
	actual := calls(steps)
	r := Report{Score: 1, Problems: append(e.forbidden(actual), e.Bounds.exceeded(figures)...)}
	if e.Calls != nil {
		if len(actual) > maxActual {
			r.Problems = append(r.Problems, fmt.Sprintf("%d tools were called; only the first %d are compared", len(actual), maxActual))
			actual = actual[:maxActual]
		}
		r.Lines = e.align(actual)
		r.Score = e.score(r.count(Same), len(actual))
	}
	r.Pass = len(r.Problems) == 0 && r.count(Differs)+r.count(Missing)+r.count(Extra) == 0
	if len(r.Problems) > 0 {
		r.Score = 0
	}
	return r
}

// calls returns the calls of steps in order.
func calls(steps []plan.StepRecord) []Actual {
	var out []Actual
	for i := range steps {
		for _, c := range steps[i].ToolCalls {
			out = append(out, Actual{Step: steps[i].ID, Tool: c.Tool, Args: decodeArgs(c.Args), Status: c.Status})
		}
	}
	return out
}

func (e *Expectation) align(actual []Actual) []Line {
	a := newAlignment(e, actual)
	var out []Line
	switch e.Match {
	case Exact:
		out = a.ordered(Extra)
	case AnyOrder, Subset:
		out = a.unordered(Extra)
	case Superset:
		out = a.unordered(Allowed)
	default:
		out = a.ordered(Allowed)
	}
	if out == nil {
		out = []Line{}
	}
	return out
}

func (e *Expectation) score(same, actual int) float64 {
	of := len(e.Calls)
	switch e.Match {
	case Exact, AnyOrder:
		same, of = 2*same, of+actual
	case Subset:
		of = actual
	default:
	}
	if of == 0 {
		return 1
	}
	return float64(same) / float64(of)
}

func (r *Report) count(op Op) int {
	n := 0
	for i := range r.Lines {
		if r.Lines[i].Op == op {
			n++
		}
	}
	return n
}

// Summary describes the report in a sentence.
func (r *Report) Summary() string {
	var parts []string
	say := func(op Op, what string) {
		if n := r.count(op); n > 0 {
			parts = append(parts, strconv.Itoa(n)+" "+what)
		}
	}
	if r.Lines != nil {
		parts = append(parts, strconv.Itoa(r.count(Same))+" as expected")
	}
	say(Differs, "with other arguments")
	say(Missing, "not called")
	say(Extra, "not expected")
	out := append([]string(nil), r.Problems...)
	if len(parts) > 0 && (len(parts) > 1 || len(out) == 0) {
		out = append([]string{"calls: " + strings.Join(parts, ", ")}, out...)
	}
	return strings.Join(out, "; ")
}

// Limits of the texts.
const (
	maxFields   = 8    // of one call
	maxValue    = 120  // bytes of one value
	maxText     = 2000 // bytes of all
	maxMatching = 3    // lines of a sequence of matching calls; longer ones are abbreviated
)

// Diff lists the calls one per line: "  " as expected, "~ " with other arguments, which follow, "- " expected but
// not called, "+ " called but not expected, ". " called and allowed.
func (r *Report) Diff() string {
	var b strings.Builder
	left := len(r.Lines)
	for i := 0; i < len(r.Lines); {
		if b.Len() > maxText {
			fmt.Fprintf(&b, "... %d more lines\n", left)
			break
		}
		n := r.matching(i)
		if n > maxMatching {
			b.WriteString(r.Lines[i].text())
			fmt.Fprintf(&b, "  ... %d more calls\n", n-2)
			i, left, n = i+n-1, left-n+1, 1
		}
		for range max(n, 1) {
			b.WriteString(r.Lines[i].text())
			i, left = i+1, left-1
		}
	}
	return b.String()
}

// matching returns the number of consecutive matching lines from i on.
func (r *Report) matching(i int) int {
	n := 0
	for i+n < len(r.Lines) && (r.Lines[i+n].Op == Same || r.Lines[i+n].Op == Allowed) {
		n++
	}
	return n
}

func (l *Line) text() string {
	var b strings.Builder
	b.WriteString(string(l.Op) + " ")
	if l.Actual != nil {
		b.WriteString(l.Actual.Tool + " " + cut(jsonvalue.Compact(l.Actual.Args)))
		if l.Actual.Status != tool.CallOK && l.Actual.Status != "" {
			b.WriteString(" (" + string(l.Actual.Status) + ")")
		}
	} else {
		b.WriteString(l.Expected.Tool)
		if l.Expected.Args != nil {
			b.WriteString(" " + cut(jsonvalue.Compact(l.Expected.Args)))
		}
	}
	b.WriteString("\n")
	for _, f := range l.Fields {
		b.WriteString("    " + f.text() + "\n")
	}
	return b.String()
}

func (f *Field) text() string {
	at := f.Path
	if at == "" {
		at = "arguments"
	}
	switch {
	case f.Missing:
		return at + ": expected " + cut(jsonvalue.Compact(f.Expected)) + ", is missing"
	case f.Excess:
		return at + ": not expected, is " + cut(jsonvalue.Compact(f.Actual))
	}
	return at + ": expected " + cut(jsonvalue.Compact(f.Expected)) + ", is " + cut(jsonvalue.Compact(f.Actual))
}

func cut(s string) string {
	return text.Clip(s, maxValue)
}

package prompt

import (
	"cmp"
	"slices"

	"github.com/pexctl/pex/dsl/diag"
)

// Severity is the severity of a problem.
type Severity string

// Severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Codes of problems.
const (
	UnknownName  = "unknown_name"  // an unknown name without a default
	NoField      = "no_field"      // the value has no such path
	OptionalName = "optional_name" // the name may be unset and there is no default
	ComputedName = "computed_name" // a reference inside the name of a reference
	Unterminated = "unterminated"  // the closing brace is missing
	BadName      = "bad_name"      // an empty part, or an invalid index
	BadFilter    = "bad_filter"    // an unknown filter, or a wrong argument
	TooDeep      = "too_deep"      // defaults nested too deep
	NearMiss     = "near_miss"     // text that looks like a reference
)

// Problem is one mistake in a template's source.
type Problem struct {
	Offset   int // in bytes
	Length   int // in bytes
	Code     string
	Severity Severity
	Message  string
	diag.Advice
}

// Failed reports whether one of the problems is an error.
func Failed(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return p.Severity == Error })
}

// maxProblems is the maximum number of problems reported for one source, which
// also limits the work.
const maxProblems = 100

func (p *parser) report(code string, from, to int, message, hint string) *Problem {
	s := Error
	if code == NearMiss {
		s = Warning
	}
	p.problems = append(p.problems, Problem{
		Offset: from, Length: to - from, Code: code, Severity: s, Message: message, Advice: diag.Advice{Hint: hint},
	})
	return &p.problems[len(p.problems)-1]
}

func sorted(problems []Problem) []Problem {
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(a.Offset, b.Offset) })
	return problems
}

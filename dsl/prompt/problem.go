package prompt

import (
	"cmp"
	"slices"

	"github.com/pexctl/pex/dsl/diag"
)

// Severity says whether a problem stops the compiler.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// The codes of problems.
const (
	UnknownName  = "unknown_name"  // nothing has this name and there is no default
	NoField      = "no_field"      // the path leads out of what the name holds
	OptionalName = "optional_name" // the name may be unset and there is no default
	ComputedName = "computed_name" // a reference inside the name of a reference
	Unterminated = "unterminated"  // the closing brace is missing
	BadName      = "bad_name"      // an empty part, or an index that is no number
	BadFilter    = "bad_filter"    // an unknown filter, or a wrong argument
	TooDeep      = "too_deep"      // defaults within defaults beyond the bound
	NearMiss     = "near_miss"     // text that looks like a reference and is none
)

// Problem is one thing wrong with a template's source.
type Problem struct {
	Offset   int // bytes into the source
	Length   int // bytes
	Code     string
	Severity Severity
	Message  string
	diag.Advice
}

// Failed says whether one of the problems is an error.
func Failed(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return p.Severity == Error })
}

// maxProblems bounds what one source can report, and so the work spent on it.
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

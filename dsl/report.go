package dsl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
)

// maxDiagnostics bounds what one spec can report.
const maxDiagnostics = 500

// report collects diagnostics. Phases share one.
type report struct {
	list    diag.List
	looked  []string // files whose characters were looked at
	ignores ignores
}

// add reports at a place and returns the entry, for a hint. A place in the
// Source of a Program has no line to show.
func (r *report) add(code diag.Code, s diag.Severity, at place, format string, args ...any) *diag.Diagnostic {
	d := diag.Diagnostic{Line: at.line, Column: at.col, Code: code, Severity: s, Message: fmt.Sprintf(format, args...)}
	if at.src != nil {
		d.File = at.src.name
		if at.src.kind == resolved {
			d.Line, d.Column = 0, 0
		} else {
			d.Snippet = at.src.line(at.line)
			d.EndColumn = at.end()
		}
	}
	if r.take(&d, at) || len(r.list) >= maxDiagnostics {
		return &d
	}
	r.list = append(r.list, d)
	return &r.list[len(r.list)-1]
}

func (r *report) error(code diag.Code, at place, format string, args ...any) *diag.Diagnostic {
	return r.add(code, diag.Error, at, format, args...)
}

func (r *report) warn(code diag.Code, at place, format string, args ...any) *diag.Diagnostic {
	return r.add(code, diag.Warning, at, format, args...)
}

// failedSince says whether an error was reported behind the first n entries.
func (r *report) failedSince(n int) bool { return r.list[n:].Failed() }

// meant is the hint for a misspelt word: the nearest candidate, and the list
// of all while it is short.
func meant(word string, all []string) string {
	const short = 12
	names := "there are none"
	if len(all) > 0 {
		names = strings.Join(all, ", ")
		if len(all) > short {
			sorted := slices.Sorted(slices.Values(all))
			names = strings.Join(sorted[:short], ", ") + ", …"
		}
		names = "there are " + names
		if len(all) == 1 {
			names = "there is only " + all[0]
		}
	}
	if near := diag.Nearest(word, all); near != "" {
		if len(all) > short {
			return "did you mean " + near + "?"
		}
		return "did you mean " + near + "? " + names
	}
	return names
}

package dsl

import (
	"fmt"
	"slices"

	"github.com/pexctl/pex/dsl/diag"
)

// maxDiagnostics bounds what one spec can report; further ones are counted.
const maxDiagnostics = 100

// report collects diagnostics. Phases share one.
type report struct {
	list    diag.List
	looked  []string // files whose characters were looked at
	ignores ignores
	dropped dropped
	secrets []string // that were found in the spec: no text of a diagnostic shows them
}

// dropped is what the bound leaves out of a report.
type dropped struct {
	places map[droppedPlace]bool // those that are counted: some mistakes are reported twice
	failed bool                  // there is an error among them
}

type droppedPlace struct {
	code      diag.Code
	file      string
	line, col int
}

// add reports at a place and returns the entry, for a hint. A place in the
// Source of a Program has no line to show.
func (r *report) add(code diag.Code, s diag.Severity, at place, format string, args ...any) *diag.Diagnostic {
	d := diag.Diagnostic{Line: at.line, Column: at.col, Code: code, Severity: s, Message: fmt.Sprintf(format, args...)}
	if at.src != nil {
		d.File = at.src.name
	}
	if len(r.list) >= maxDiagnostics && (s != diag.Error || r.list.Failed()) {
		if !r.take(&d, at) {
			r.drop(&d)
		}
		return &d
	}
	if at.src != nil {
		if at.src.kind == resolved {
			d.Line, d.Column = 0, 0
		} else {
			d.Snippet, d.SnippetColumn = at.excerpt()
			d.EndColumn = at.end(d.Snippet, d.SnippetColumn)
		}
	}
	r.maskAt(&d, at)
	if r.take(&d, at) {
		return &d
	}
	return r.keep(d)
}

// keep adds a diagnostic as it is. One beyond the bound is counted, but the
// first error takes the place of a warning: a report with errors has one.
func (r *report) keep(d diag.Diagnostic) *diag.Diagnostic {
	switch {
	case len(r.list) < maxDiagnostics:
		r.list = append(r.list, d)
		return &r.list[len(r.list)-1]
	case d.Severity == diag.Error && !r.list.Failed():
		last := &r.list[maxDiagnostics-1]
		lost := *last
		*last = d
		r.drop(&lost)
		return last
	}
	r.drop(&d)
	return &d
}

// drop counts a diagnostic that is not kept, in the last entry of the list.
func (r *report) drop(d *diag.Diagnostic) {
	const most = 10_000 // places that are told apart
	key := droppedPlace{d.Code, d.File, d.Line, d.Column}
	same := func(kept diag.Diagnostic) bool {
		return key == droppedPlace{kept.Code, kept.File, kept.Line, kept.Column}
	}
	r.dropped.failed = r.dropped.failed || d.Severity == diag.Error
	if slices.ContainsFunc(r.list, same) || len(r.dropped.places) >= most {
		return
	}
	if r.dropped.places == nil {
		r.dropped.places = map[droppedPlace]bool{}
		r.list = append(r.list, diag.Diagnostic{File: d.File, Code: diag.TooMany, Severity: diag.Warning})
	}
	r.dropped.places[key] = true
	more := &r.list[maxDiagnostics]
	more.Message = fmt.Sprintf("and %d more", len(r.dropped.places))
	more.Hint = fmt.Sprintf("fix these first; at most %d diagnostics are shown", maxDiagnostics)
	if r.dropped.failed {
		more.Severity = diag.Error
	}
}

func (r *report) error(code diag.Code, at place, format string, args ...any) *diag.Diagnostic {
	return r.add(code, diag.Error, at, format, args...)
}

func (r *report) warn(code diag.Code, at place, format string, args ...any) *diag.Diagnostic {
	return r.add(code, diag.Warning, at, format, args...)
}

// failedSince says whether an error was reported behind the first n entries.
func (r *report) failedSince(n int) bool { return r.dropped.failed || r.list[n:].Failed() }

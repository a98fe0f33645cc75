package syntax

import (
	"fmt"
	"slices"

	"github.com/pexctl/pex/dsl/diag"
)

// maxDiagnostics is the maximum number of diagnostics of one spec; further ones
// are counted.
const maxDiagnostics = 100

// Report collects diagnostics. All phases share one.
type Report struct {
	List    diag.List
	Ignores Ignores
	scanned []string // files whose hidden characters were reported
	dropped dropped
	secrets []string // secrets of the spec, redacted in every diagnostic
}

// dropped counts the diagnostics that exceed the limit.
type dropped struct {
	places map[droppedPlace]bool // places already counted, because some mistakes are reported twice
	failed bool                  // one of them is an error
}

type droppedPlace struct {
	code      diag.Code
	file      string
	line, col int
}

// Add adds a diagnostic at a position and returns it, so that the caller can add
// a hint. A position in the Source of a Program has no source line.
func (r *Report) Add(code diag.Code, s diag.Severity, at Position, format string, args ...any) *diag.Diagnostic {
	d := diag.Diagnostic{Line: at.Line, Column: at.Column, Code: code, Severity: s, Message: fmt.Sprintf(format, args...)}
	if at.Source != nil {
		d.File = at.Source.Name
	}
	if len(r.List) >= maxDiagnostics && (s != diag.Error || r.List.Failed()) {
		if !r.applyIgnore(&d, at) {
			r.countDropped(&d)
		}
		return &d
	}
	if at.Source != nil {
		if at.Source.Kind == Resolved {
			d.Line, d.Column = 0, 0
		} else {
			d.Snippet, d.SnippetColumn = at.excerpt()
			d.EndColumn = at.end(d.Snippet, d.SnippetColumn)
		}
	}
	r.maskAt(&d, at)
	if r.applyIgnore(&d, at) {
		return &d
	}
	return r.AddDiagnostic(d)
}

// AddDiagnostic adds a diagnostic unchanged. Above the limit it is only counted, except
// that the first error replaces a warning, so that a report with errors contains
// one.
func (r *Report) AddDiagnostic(d diag.Diagnostic) *diag.Diagnostic {
	switch {
	case len(r.List) < maxDiagnostics:
		r.List = append(r.List, d)
		return &r.List[len(r.List)-1]
	case d.Severity == diag.Error && !r.List.Failed():
		last := &r.List[maxDiagnostics-1]
		lost := *last
		*last = d
		r.countDropped(&lost)
		return last
	}
	r.countDropped(&d)
	return &d
}

// countDropped counts a diagnostic in the last entry of the list.
func (r *Report) countDropped(d *diag.Diagnostic) {
	const most = 10_000 // positions to remember
	key := droppedPlace{d.Code, d.File, d.Line, d.Column}
	same := func(kept diag.Diagnostic) bool {
		return key == droppedPlace{kept.Code, kept.File, kept.Line, kept.Column}
	}
	r.dropped.failed = r.dropped.failed || d.Severity == diag.Error
	if slices.ContainsFunc(r.List, same) || len(r.dropped.places) >= most {
		return
	}
	if r.dropped.places == nil {
		r.dropped.places = map[droppedPlace]bool{}
		r.List = append(r.List, diag.Diagnostic{File: d.File, Code: diag.TooMany, Severity: diag.Warning})
	}
	r.dropped.places[key] = true
	more := &r.List[maxDiagnostics]
	more.Message = fmt.Sprintf("and %d more", len(r.dropped.places))
	more.Hint = fmt.Sprintf("fix these first; only %d diagnostics are shown", maxDiagnostics)
	if r.dropped.failed {
		more.Severity = diag.Error
	}
}

// Error adds an error at a position and returns it, so that the caller can add a
// hint.
func (r *Report) Error(code diag.Code, at Position, format string, args ...any) *diag.Diagnostic {
	return r.Add(code, diag.Error, at, format, args...)
}

// Warn adds a warning at a position and returns it, so that the caller can add a
// hint.
func (r *Report) Warn(code diag.Code, at Position, format string, args ...any) *diag.Diagnostic {
	return r.Add(code, diag.Warning, at, format, args...)
}

// FailedSince reports whether there is an error after the first n entries.
func (r *Report) FailedSince(n int) bool { return r.dropped.failed || r.List[n:].Failed() }

package diag

import (
	"cmp"
	"encoding/json"
	"slices"
)

// Severity reports whether a diagnostic makes a spec unusable.
type Severity string

// Severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Diagnostic is one mistake. Line and Column count from 1, columns in characters;
// Line 0 means the file as a whole. EndColumn is the column after the word or
// text, in the same line; 0 if unknown.
type Diagnostic struct {
	File      string   `json:"file"`
	Line      int      `json:"line"`
	Column    int      `json:"column"`
	EndColumn int      `json:"end_column,omitempty"`
	Code      Code     `json:"code"`
	Severity  Severity `json:"severity"`
	Message   string   `json:"message"`
	Advice
	Snippet string `json:"-"` // the source line, or a part of a long one, for the text form, with secrets masked
	// SnippetColumn is the column at which Snippet starts; 0 means 1.
	SnippetColumn int `json:"-"`
}

// Advice describes how to fix a mistake.
type Advice struct {
	Hint string `json:"hint"` // for humans; "" if unknown
	Fix  Fix    `json:"-"`    // the change that the hint suggests, for editors
}

// Fix replaces a misspelled word. Old is at the position of the diagnostic, or
// after it in the same line. The zero Fix changes nothing.
type Fix struct{ Old, New string }

// DidYouMean suggests a replacement for a word. more, if any, is appended to the
// hint.
func DidYouMean(old, word, more string) Advice {
	a := Advice{Hint: "did you mean " + word + "?", Fix: Fix{Old: old, New: word}}
	if more != "" {
		a.Hint += " " + more
	}
	return a
}

// Ignored is a warning that a comment in its file suppresses, with the reason.
type Ignored struct {
	Diagnostic Diagnostic
	Reason     string
}

// List is a list of diagnostics. The zero List is empty and ready to use.
type List []Diagnostic

// Sort sorts a list by file (in order of first report), line and column, and
// removes duplicates.
func (l List) Sort() List {
	order := map[string]int{}
	for _, d := range l {
		if _, seen := order[d.File]; !seen {
			order[d.File] = len(order)
		}
	}
	slices.SortStableFunc(l, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(tooMany(a), tooMany(b)),
			cmp.Compare(order[a.File], order[b.File]), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message),
		)
	})
	return slices.Compact(l)
}

// tooMany returns 1 for the entry that counts omitted diagnostics, which sorts
// last.
func tooMany(d Diagnostic) int {
	if d.Code == TooMany {
		return 1
	}
	return 0
}

// Errors returns the number of errors.
func (l List) Errors() int { return l.count(Error) }

// Warnings returns the number of warnings.
func (l List) Warnings() int { return l.count(Warning) }

// Failed reports whether the list has an error.
func (l List) Failed() bool { return l.Errors() > 0 }

func (l List) count(s Severity) int {
	n := 0
	for _, d := range l {
		if d.Severity == s && d.Code != TooMany {
			n++
		}
	}
	return n
}

// MarshalJSON returns {diagnostics, errors, warnings}, the format of `-o json`.
func (l List) MarshalJSON() ([]byte, error) {
	all := []Diagnostic(l)
	if all == nil {
		all = []Diagnostic{}
	}
	return json.Marshal(struct {
		Diagnostics []Diagnostic `json:"diagnostics"`
		Errors      int          `json:"errors"`
		Warnings    int          `json:"warnings"`
	}{all, l.Errors(), l.Warnings()})
}

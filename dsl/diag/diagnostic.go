package diag

import (
	"cmp"
	"encoding/json"
	"slices"
)

// Severity says whether a diagnostic makes a spec unusable.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Diagnostic is one mistake. Line and Column count from 1, columns in
// characters; Line 0 means the file as a whole. EndColumn is the one after the
// word or text at the place, in the same line; 0 means it is not known.
type Diagnostic struct {
	File      string   `json:"file"`
	Line      int      `json:"line"`
	Column    int      `json:"column"`
	EndColumn int      `json:"end_column,omitempty"`
	Code      Code     `json:"code"`
	Severity  Severity `json:"severity"`
	Message   string   `json:"message"`
	Advice
	Snippet string `json:"-"` // the source line, or a part of a long one, for the text form; secrets are masked
	// SnippetColumn is the column at which Snippet begins; 0 = 1.
	SnippetColumn int `json:"-"`
}

// Advice is how to repair a mistake.
type Advice struct {
	Hint string `json:"hint"` // for people; "" = none known
	Fix  Fix    `json:"-"`    // the change that the hint suggests, for editors
}

// Fix replaces a misspelled word. Old is at the place of the diagnostic, or
// after it in the same line. The zero Fix changes nothing.
type Fix struct{ Old, New string }

// DidYouMean suggests a word in place of another. more, if any, is added to the
// hint.
func DidYouMean(old, word, more string) Advice {
	a := Advice{Hint: "did you mean " + word + "?", Fix: Fix{Old: old, New: word}}
	if more != "" {
		a.Hint += " " + more
	}
	return a
}

// Ignored is a warning that a comment in its file ignores, and why.
type Ignored struct {
	Diagnostic Diagnostic
	Reason     string
}

// List is diagnostics. The zero List is empty and ready to use.
type List []Diagnostic

// Sort puts a list in the order of files (the first reported first), lines and
// columns, and drops what was reported twice.
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

// tooMany is 1 for the entry that counts what a list leaves out: it comes last.
func tooMany(d Diagnostic) int {
	if d.Code == TooMany {
		return 1
	}
	return 0
}

// Errors counts the errors.
func (l List) Errors() int { return l.count(Error) }

// Warnings counts the warnings.
func (l List) Warnings() int { return l.count(Warning) }

// Failed says whether there is an error.
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

// MarshalJSON gives {diagnostics, errors, warnings}, the form of `-o json`.
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

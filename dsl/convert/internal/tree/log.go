package tree

import (
	"fmt"
	"slices"

	"github.com/pexctl/pex/dsl/convert"
)

// Log collects the notes of a conversion.
type Log struct{ Notes []convert.Note }

// Note adds a note about a value and marks the value as used.
func (l *Log) Note(it *Value, fate convert.Outcome, format string, args ...any) {
	if it == nil {
		return
	}
	l.Notes = append(l.Notes, convert.Note{File: it.File, Path: it.Path, Outcome: fate, What: fmt.Sprintf(format, args...)})
	it.Use()
}

// NoteAt adds a note about something that is not in the source.
func (l *Log) NoteAt(file, path string, fate convert.Outcome, format string, args ...any) {
	l.Notes = append(l.Notes, convert.Note{File: file, Path: path, Outcome: fate, What: fmt.Sprintf(format, args...)})
}

// NoteUnused adds a note for each unused value.
func (l *Log) NoteUnused(root *Value, why string) {
	for _, it := range root.Unused() {
		if it.Kind != List && it.Kind != Object || len(it.Items) > 0 { // empty ones carry no information
			l.Note(it, convert.Dropped, "%s", why)
		}
	}
}

// NoteKeys calls Note for members of an object.
func (l *Log) NoteKeys(it *Value, keys []string, outcome convert.Outcome, format string, args ...any) {
	for _, key := range keys {
		l.Note(it.Get(key), outcome, format, args...)
	}
}

// Sorted returns the notes without duplicates, in the order of the sources.
func (l *Log) Sorted(roots ...*Value) (out []convert.Note) {
	order := map[string]int{}
	var number func(it *Value)
	number = func(it *Value) {
		if key := it.File + "\x00" + it.Path; order[key] == 0 {
			order[key] = len(order) + 1
		}
		for _, sub := range it.Items {
			number(sub)
		}
	}
	for _, root := range roots {
		number(root)
	}
	notes := slices.Clone(l.Notes)
	slices.SortStableFunc(notes, func(a, b convert.Note) int {
		return order[a.File+"\x00"+a.Path] - order[b.File+"\x00"+b.Path]
	})
	seen := map[convert.Note]bool{}
	for _, n := range notes {
		if n.Path == "" {
			n.Path = "."
		}
		if !seen[n] {
			out = append(out, n)
		}
		seen[n] = true
	}
	return out
}

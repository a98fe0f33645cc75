package ui

import (
	"cmp"
	"slices"
	"strings"
)

// WithoutEmpty removes the columns that are empty in all rows.
func WithoutEmpty(rows [][]string) [][]string {
	out := make([][]string, len(rows))
	for column := range rows[0] {
		if !slices.ContainsFunc(rows[1:], func(row []string) bool { return row[column] != "-" }) {
			continue
		}
		for i := range rows {
			out[i] = append(out[i], rows[i][column])
		}
	}
	return out
}

// CellList formats words for a table cell; without words it is "-".
func CellList(words []string) string { return cmp.Or(strings.Join(words, ", "), "-") }

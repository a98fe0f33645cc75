// Package textdiff compares texts by lines, and changed lines by words.
//
//	Compare(before, after) -> Diff{hunks, lines, spans} -> Unified, Color, Markdown
//
// The cost is bounded for texts of any length. The package must not know what the texts are.
package textdiff

// Package textdiff compares texts by lines, and changed lines by words.
//
//	Compare(before, after) -> Diff{hunks, lines, spans} -> Unified, Colour, Markdown
//
// Its cost is bounded for texts of any length. It must not know what the texts are.
package textdiff

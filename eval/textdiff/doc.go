// Package textdiff compares texts as people read them: lines, and within
// changed lines the words.
//
//	Compare(before, after) -> Diff{hunks, lines, spans} -> Unified, Colour, Markdown
//
// What it costs is bounded for texts of any length. It must not know what the
// texts are.
package textdiff

// Package markdown puts texts that are not ours into GitHub Markdown so that
// they stay what they are.
//
//	Code, Cell, Block -> code in a line, in a table, and a block of it
//	Prose             -> a sentence of ours that holds such texts
//	Summary           -> the line of a part that opens
//
// Within code nothing is a link, a mention, a reference, a formula or HTML. The
// package must not know what the texts are.
package markdown

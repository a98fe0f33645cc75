// Package markdown escapes untrusted texts for GitHub Markdown.
//
//	Code, Cell, Block -> inline code, code in a table, code block
//	Prose             -> a sentence of ours with such texts
//	Summary           -> the summary line of a collapsed part
//
// Code contains no links, mentions, references, formulas or HTML. The package must not
// depend on the origin of the texts.
package markdown

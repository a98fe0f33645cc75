// Package page converts HTML to text that a model can read.
//
//	Text(html, base) --one pass over tags--> title and text
//
// It removes scripts, styles and markup, and keeps paragraphs, headings, list items,
// table cells and link targets. It accepts any bytes and runs in linear time.
//
// The package must not depend on HTTP or tools.
package page

// Package page turns a web page into text that a model can read.
//
//	Text(html, base) --one pass over tags--> title and text
//
// Scripts, styles and markup go; paragraphs, headings, list items, table cells
// and the targets of links stay. It is linear in the size of the page and
// takes any bytes.
//
// It must not know HTTP or tools.
package page

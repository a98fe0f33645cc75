// Package passage cuts texts into passages that can be found and cited.
//
//	Split(text, options) --lines--> blocks: headings, paragraphs, code
//	                     --by heading--> sections
//	                     --packed--> passages {lines, bytes, heading}
//
// A passage ends where a section does. Within one, paragraphs and fenced code
// are cut only when they do not fit into a passage alone, then between lines,
// and a line only when it does not fit.
//
// It must not know files, words, or how passages are searched.
package passage

// Package chunk splits texts into passages that can be found and cited.
//
//	Split(text, options) --lines--> blocks: headings, paragraphs, code
//	                     --by heading--> sections
//	                     --packed--> passages {lines, bytes, heading}
//
// A passage ends where its section does. Within a section, paragraphs and fenced code are
// split only if they do not fit into one passage, then between lines, and lines only if
// they do not fit either.
//
// The package must not know files, words, or how passages are searched.
package chunk

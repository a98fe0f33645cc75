// Package unseen finds characters that a reader does not see and a model does:
// what stands in a tool's description is to be what a reviewer reads.
//
//	ClassOf(r)    what kind of unseen character it is: tag, bidi, blank, selector, control, private
//	In(text)      those in a text, but for joiners and selectors that emoji and scripts need
//	Show(text)    the text with each spelled out: \u{200B}
//	ShowJSON(b)   the same for the texts in JSON, which stays JSON
//
// It must not know whose text it is, nor where it is shown.
package unseen

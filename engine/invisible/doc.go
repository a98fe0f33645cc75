// Package invisible finds characters that are invisible to readers but not to models, so
// that reviewers see everything in a tool's description.
//
//	ClassOf(r)    the class of invisible character: tag, bidi, blank, selector, control, private
//	In(text)      those in a text, except joiners and selectors needed by emoji and scripts
//	Show(text)    the text with each escaped: \u{200B}
//	ShowJSON(b)   the same for the strings in JSON, which stays valid
//
// The package must not know whose text it is, nor where it is shown.
package invisible

// Package edit replaces the texts of prompts in the tree of a spec, and nothing else.
//
//	New -> Edits.Apply(tree) -> the tree is decoded -> Edits.Check(uses of prompts) -> diagnostics
//
// Whether a key is a prompt is known only after the tree is decoded, so an edit of anything
// else is applied and then reported: the program is not used.
package edit

// Package outline parses the structure of a YAML text that is being edited.
//
//	text --by indentation--> Node: keys, values and their byte offsets
//
// A text that is not valid YAML has an outline too. Depth and the number of nodes
// are limited.
//
// The package must not know the language of specs, nor the editor's protocol.
package outline

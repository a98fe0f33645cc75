// Package outline reads the structure of a YAML text that is being typed.
//
//	text --by indentation--> Node: keys, values and their byte offsets
//
// A text that does not parse has an outline too. Depth and the number of nodes
// are bounded.
//
// The package must not know the language of specs, nor the editor's protocol.
package outline

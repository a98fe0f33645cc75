// Package complete completes expressions that may be incomplete: it describes the
// word at the cursor and lists what can be written there.
//
//	tokens --operand--> type of what is before the cursor --members--> choices
//
// The package must not know YAML or the editor's protocol.
package complete

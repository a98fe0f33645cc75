// Package language answers what may be written at a node of an outline, by the
// JSON Schema of specs.
//
//	schema --Decode--> Schema; Language.Of(node) --> the parts that hold for it
//	                           Language.Keys(node) --> keys it may have
//
// The package must not know files or the editor's protocol.
package language

// Package language determines what may be written at a node of an outline, from
// the JSON Schema of specs.
//
//	schema --Decode--> Schema; Language.Of(node) --> the parts that apply to it
//	                           Language.Keys(node) --> keys it may have
//
// The package must not know files or the editor's protocol.
package language

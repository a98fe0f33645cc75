// Package tree holds what converters read and write as trees.
//
//	JSON or YAML --ReadJSON, ReadAny--> Value --converter--> Map --WriteYAML--> spec
//
// A Value knows its place in its file and whether it was used, so that Log can
// note each value that a converter ignored. A Map keeps its keys in order and
// has comments.
//
// The package must not know any source format, nor what a spec may contain.
package tree

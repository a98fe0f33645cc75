// Package format gives YAML files their canonical layout.
//
//	source --> yaml nodes --> lines, moved by the order of keys --> source
//
// It moves lines and never writes a value again. The result is accepted only if it
// parses to the same values with the same comments, and if formatting it once more
// changes nothing.
//
// The order of keys comes from the caller: the package knows no key of the language.
package format

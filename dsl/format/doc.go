// Package format formats YAML files in their canonical layout.
//
//	source --> yaml nodes --> lines, moved by the order of keys --> source
//
// It moves lines and never rewrites a value. It accepts the result only if it
// parses to the same values with the same comments, and if formatting it again
// changes nothing.
//
// The caller defines the order of keys: the package knows no key of the language.
package format

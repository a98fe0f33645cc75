// Package jsontemplate renders JSON templates without letting values change the
// structure.
//
// A template is a JSON value whose strings have references, or JSON text with references.
// Values are inserted as values, never as text: inside a JSON string a value stays in
// that string, and a reference that is a whole value keeps its type. The result always
// has the structure that the author wrote.
//
// The package knows nothing of what the JSON is for.
package jsontemplate

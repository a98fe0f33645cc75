// Package jsontemplate fills JSON with values that must not change its form.
//
// A template is written as a tree whose texts hold references, or as JSON text
// with references in it. Either is filled by values, never by text: inside a
// JSON string a value stays in that string, and a reference that is the whole
// of a place becomes a value with its type. So whatever a value holds, what
// comes out has the form that the author wrote.
//
// The package knows nothing of what the JSON is for.
package jsontemplate

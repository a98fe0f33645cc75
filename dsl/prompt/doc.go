// Package prompt parses and renders templates.
//
//	source --Parse--> *Template + []Problem --Render(lookup)--> segments
//
// A reference is ${ns.name} or $<ns.name>; shells and envsubst do not touch the
// second spelling. In full:
//
//	${ parameters.user.name | trim | indent 4 :- a default }
//
// The name is trimmed and may be a path into objects and lists (hits[0].id); an
// exact dotted name wins over a path. Filters come after the name and before the
// default, because a default is free text up to the balancing brace: they change
// only the value, never the default. The default is itself a template, used if
// the value is unset or null. $${ and $$< are escapes.
//
// Only the namespaces of Options expand; other braces are text. Parsing is one
// pass, rendering another: values are data and are never scanned again.
//
// The package must not know YAML, files, or what a namespace means.
package prompt

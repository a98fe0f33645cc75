// Package prompt parses and fills templates (DESIGN section 3).
//
//	source --Parse--> *Template + []Problem --Render(lookup)--> segments
//
// A reference is ${ns.name} or $<ns.name>; the second spelling is left alone
// by shells and envsubst. In full:
//
//	${ parameters.user.name | trim | indent 4 :- a default }
//
// The name is trimmed and may reach into objects and lists (hits[0].id); an
// exact dotted name beats a path. Filters come after the name and before the
// default, because a default is free text up to the balancing brace: they
// change the value only, never the default. The default is itself a template
// and is used when the value is unset or null. $${ and $$< are escapes.
//
// Only the namespaces of Options expand; every other brace is text. Parsing is
// one pass, rendering another: a value is data and is never scanned again.
//
// It must not know YAML, files, or what a namespace means.
package prompt

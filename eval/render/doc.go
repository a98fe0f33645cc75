// Package render renders the prompts of a program in a given state, without calling models
// or tools.
//
//	YAML or JSON of a state --Read--> State --View--> engine.View --Render--> messages --Markdown--> text
//
// Commands print such prompts and tests compare them with golden files; both use this
// package, so the texts are identical. It must not know flags, goldens, providers or
// tools.
package render

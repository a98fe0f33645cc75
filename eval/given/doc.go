// Package given renders the prompts of a program in a state that a person wrote
// down, calling nobody.
//
//	YAML or JSON of a state --Read--> State --View--> engine.View --Render--> messages --Markdown--> text
//
// Commands show such prompts, tests hold them against golden files: both have
// them from here, so that they are the same to the byte. The package must not
// know flags, goldens, providers or tools.
package given

// Package archtest keeps the house in the shape that docs/architecture.md draws.
//
//	docs/architecture.md --ParseTable--> Table {arrows, doors, folders}
//	module folder        --Load--------> Module {packages, parsed files}
//	Check(Table, Module) --------------> findings in code, each with a place and a way out
//	CheckLayout(Table, Module) --------> folders without a row, rows without a folder
//	Module.Circles --------------------> files of a package that all refer to each other
//
// The page is the source: a rule is changed there, with an ADR, not here.
// The package reads code and knows nothing of what the code does.
package archtest

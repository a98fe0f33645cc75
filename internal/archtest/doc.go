// Package archtest checks the code against the architecture in docs/architecture.md.
//
//	docs/architecture.md --ParseTable--> Table {arrows, doors, folders}
//	module folder        --Load--------> Module {packages, parsed files}
//	Check(Table, Module) --------------> findings in code, with place and fix
//	CheckLayout(Table, Module) --------> folders without a row, rows without a folder
//	Module.Circles --------------------> files of a package that all refer to each other
//
// The page is the source: change a rule there, with an ADR. The package reads code and
// knows nothing of what it does.
package archtest

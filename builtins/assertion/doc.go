// Package assertion implements the checks that ship with pexctl and need no library.
//
//	All --> a Factory per check: Config (what an author writes) + trial.CheckSettings --> trial.Check
//	Check: Subject --the text or JSON to check--> Mark {pass, score, explanation}
//
// Each check has a file with its name. Larger parts have packages of their own: measure
// (rouge, edit distance). A check of a text uses the response or, with path, the single
// value that it selects from the output. A wrong answer results in a failing Mark; an
// error means that the check itself failed, because something it needs is missing or
// invalid. Marks are short, however long the texts are.
//
// The package must not depend on suites, datasets, the weight or negation of checks, or
// the format of reports.
package assertion

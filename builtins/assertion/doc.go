// Package assertion is the checks that come with pexctl and need no library.
//
//	All --> a Factory a check: Config (what an author writes) + CheckSettings --> trial.Check
//	Check: Subject --the text or JSON it looks at--> Mark {pass, score, what explains it}
//
// Each check stands in the file of its name; what is more than a page of code
// has a folder of its own: measure (rouge, edit distance). A check that looks at
// text takes the response, or, with path, the one value that it selects of the
// output. An answer that is not as wanted is a Mark; an error is the check's own
// failure: what it needs is not there, or cannot be made sense of. Marks are
// short, however long the texts are.
//
// It must not know suites, datasets, how checks are weighed or negated, nor how a
// report looks.
package assertion

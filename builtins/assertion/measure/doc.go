// Package measure says how alike two texts are.
//
//	Rouge     words or runs of words in common, as F1 (Lin 2004)
//	Distance  letters to insert, delete or replace (Levenshtein 1966)
//	Cosine    directions of two vectors
//
// The work is bounded whatever the texts are: Rouge looks at the first MaxWords
// words of each, Distance says how far it can look. The package must not know
// checks or marks.
package measure

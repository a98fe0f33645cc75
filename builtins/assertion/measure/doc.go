// Package measure measures the similarity of two texts.
//
//	Rouge     common words or n-grams, as F1 (Lin 2004)
//	Distance  letters to insert, delete or replace (Levenshtein 1966)
//	Cosine    angle between two vectors
//
// The work is bounded: Rouge uses the first MaxWords words of each text, and Distance
// reports whether its result is exact. The package must not depend on checks or marks.
package measure

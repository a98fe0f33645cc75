// Package judge asks a model for judgements.
//
//	Question --Grade--> one request --JSON of the schema?--> Judgement
//	                      \--no: repeated once, with the error
//
// Identical questions are asked once: concurrent callers wait, later ones get the cached
// judgement. The checks define the questions and what judgements mean; the package must
// not know them.
package judge

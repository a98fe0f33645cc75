// Package judge asks a model for judgements.
//
//	Question --Grade--> one request --JSON of the schema?--> Judgement
//	                      \--no: asked again once, with what is wrong
//
// The same question is asked once: whoever asks it meanwhile waits, and who asks
// it later gets the judgement that is remembered. What judges are asked, and what
// their judgements mean, is the checks' affair; the package must not know them.
package judge

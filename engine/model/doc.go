// Package model is the vocabulary of language models: the Model that a provider
// implements, the Request it gets, the Reply, Delta and Error it returns, the
// Settings it is made with, and what a reply costs.
//
// A provider imports this package and none of the engine's others: it does not
// know runs, journals or tools beyond their definitions in a request.
package model

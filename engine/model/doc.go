// Package model defines language models: the Model that a provider implements, its
// Request, Reply, Delta, Error and Settings, and prices.
//
// Providers import this package and no other package of the engine. It knows nothing of
// runs or journals, and of tools only their definitions in a request.
package model

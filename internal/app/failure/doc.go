// Package failure classifies errors for the command line and the server: caused by the
// caller, the machine, a provider or a store. Each maps the class to its own codes. It
// knows neither.
package failure

// Package failure tells whose fault an error is, for the command line and the
// server: the caller's, or that of the machine, a provider or a store. Each of
// them turns the kind into its own codes. It knows neither.
package failure

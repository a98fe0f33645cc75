// Package breaker is a circuit breaker: after several failures in a row it
// keeps calls away from a service for a while, then lets one call try it.
//
//	closed --Trip failures in a row--> open --pause--> one call tries it
//	that call succeeds --> closed;  it fails --> open, for twice as long
//
// It has no clock and no lock: the caller passes the time and guards it. It must
// not know what is called, or why a call failed.
package breaker

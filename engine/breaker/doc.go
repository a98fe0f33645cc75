// Package breaker implements a circuit breaker: after several consecutive failures it
// rejects calls to a service for a while, then lets one call probe it.
//
//	closed --Trip consecutive failures--> open --pause--> one probe
//	the probe succeeds --> closed;  it fails --> open, for twice as long
//
// It has no clock and no lock: the caller passes the time and synchronizes access. It
// must not know what is called, or why a call failed.
package breaker

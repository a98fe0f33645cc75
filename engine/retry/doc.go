// Package retry says how long to wait before a call is repeated: exponential
// backoff. It has no clock, and must not know what is called.
package retry

// Package retry says how often a call is repeated, and how long to wait before:
// exponential backoff. It has no clock, and must not know what is called.
package retry

// Package retry defines retry policies: number of attempts and exponential backoff. It
// has no clock and must not know what is called.
package retry

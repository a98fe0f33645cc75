// Package guardtest has test data for the guard and its users: the addresses that it must reject.
package guardtest

// Package wiretest holds what tests of the guard, and of all that stands behind
// it, have in common: the addresses that it must refuse.
package wiretest

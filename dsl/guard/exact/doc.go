// Package exact holds numbers without rounding: the digits of JSON count, and
// sums, products and quotients are fractions.
//
//	JSON, int, float64 --Of, Parse--> Number --Rat, Compare, Format--> results
//
// Digits and exponents are bounded, so that no number takes long to work with.
//
// The package must not know expressions.
package exact

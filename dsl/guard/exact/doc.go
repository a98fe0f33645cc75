// Package exact represents numbers without rounding: JSON numbers keep all
// digits, and sums, products and quotients are fractions.
//
//	JSON, int, float64 --Of, Parse--> Number --Rat, Compare, Format--> results
//
// Digits and exponents are limited, so that operations take little time.
//
// The package must not know expressions.
package exact

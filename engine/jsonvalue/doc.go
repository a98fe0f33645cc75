// Package jsonvalue encodes and decodes the JSON of runs: on one line, without HTML
// escapes, with all digits of numbers, or with Go numbers for expressions. It knows
// nothing of what the values mean.
package jsonvalue

// Package jsonvalue encodes and decodes the JSON that runs keep: on one line,
// without HTML escapes, numbers with all their digits or as Go numbers for
// expressions. It knows nothing of what the values mean.
package jsonvalue

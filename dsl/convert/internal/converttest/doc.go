// Package converttest has what the tests of converters share: results as text,
// and the checks that no value of a source is lost and that hostile input is
// refused or converted.
package converttest

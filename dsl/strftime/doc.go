// Package strftime formats times with strftime directives, which specs and the
// clock tool use for time formats.
//
//	Check(format) at build time -> Format(t, format) at run time
//
// The package must not know where a time comes from.
package strftime

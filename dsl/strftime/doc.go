// Package strftime writes times by strftime directives, the form in which specs
// and the clock tool say how a time is to look.
//
//	Check(format) at build time -> Format(t, format) at run time
//
// It must not know where a time comes from.
package strftime

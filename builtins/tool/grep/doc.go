// Package grep searches a stream of any length by line, in bounded memory.
//
//	Compile(Query) --> Matcher
//	Matcher.Scan(reader) --block by block--> matching lines and their context
//
// A block without a possible match is only counted, not split into lines, so logs of
// hundreds of megabytes take seconds.
//
// The package must not depend on files, folders or tools.
package grep

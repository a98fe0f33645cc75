// Package grep finds lines in a stream of any length in bounded memory.
//
//	Compile(Query) --> Matcher
//	Matcher.Scan(reader) --block by block--> lines that match, with lines around them
//
// A block in which nothing can match is only counted, not cut into lines, so
// logs of hundreds of megabytes take seconds.
//
// It must not know files, folders, or tools.
package grep

// Package text has small string functions used everywhere: numbers with nouns, lists of
// words, shortened texts and globs.
//
//	Count, Plural, List, Some         words for messages
//	Head, Tail, Clip, ClipRunes       shortened texts
//	OneLine, Regexp, Match, MatchAny  white space and patterns
//	ShellWord                         words of shell commands
//
// It must not know what the texts are about, and imports only the standard library.
package text

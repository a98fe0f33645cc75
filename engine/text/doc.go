// Package text holds the small functions on strings that every other package
// needs: numbers with their nouns, lists of words, shortened texts and globs.
//
//	Count, Plural, List, Some         words for messages
//	Head, Tail, Clip, ClipRunes       shortened texts
//	OneLine, Regexp, Match, MatchAny  white space and patterns
//
// It must not know what the texts are about, and it imports the standard
// library only.
package text

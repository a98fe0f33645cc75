// Package word splits text into terms, so that words of a question match those
// of a file in any form.
//
//	New(language) --> Analyzer
//	text --unicode segmentation--> tokens --identifier parts, lowercase,
//	stop words, stems, accents, CJK bigrams--> terms
//
// The filters for identifier parts and accents are ours, registered with bleve; all
// others are bleve's.
//
// The package must not know files, passages, or what the terms are used for.
package word

// Package word says how bleve makes words of texts, so that those of a question
// find those of a file whatever their form.
//
//	Add(mapping, language) --> the analyzer Analyzer of the mapping
//	text --unicode segmentation--> tokens --parts of identifiers, small letters,
//	stop words, stems, accents, pairs of ideographs--> terms
//
// The parts of identifiers and the accents are filters of ours, made known to
// bleve's registry; all else is bleve's.
//
// It must not know files, passages, or what is done with the terms.
package word

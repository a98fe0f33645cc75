// Package bleve implements the retrieve tool: full-text search in the files of a folder,
// returning passages that can be cited.
//
//	Call: acquire an index (indexcache) and walk the folder; split new and changed
//	      files (chunk), analyze them (word) and index them (index)
//	  --> query --BM25--> passages
//	      and, with embeddings, --vectors of an LLM, cosine--> passages, fused
//	  --> text with path:lines, and the same as data
//
// bleve provides the analysis of text: segmentation, stop words, stemmers. The index is
// ours, because bleve's slows down each start of the program (docs/dependencies.md). Cost
// measured on two cores and 1,000 files of 10 MB: 1.3 s to index, 20 ms per query including
// opening the index, 24 ms after one file changed.
//
// A folder is limited to 20,000 files and 200 MB. The index is less than half as large;
// vectors need 4 bytes per dimension and passage more. At most indexcache.MaxIndexes indexes are
// stored.
//
// The package must not know specs, plans, model providers, or how it is called.
package bleve

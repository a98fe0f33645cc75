// Package bleve implements the retrieve tool: full-text search in the files of a folder,
// returning passages that can be cited.
//
//	Call: acquire an index (indexcache) and walk the folder; split new and changed
//	      files (chunk), analyze them (word) and index them (index)
//	  --> query --BM25--> passages
//	      and, with embeddings, --vectors of an LLM, cosine--> passages, fused
//	  --> text with path:lines, and the same as data
//
// The index is bleve's (scorch), including analysis, scoring and storage. Cost measured
// with 2.5.7 on two cores and 1,000 files of 10 MB: 3 s to index, 9 MB of disk, 20 ms per
// query including opening and closing the index, 40 ms after one file changed; and 6 to 8
// ms on each start of the program for automata that scorch builds eagerly.
//
// A folder is limited to 20,000 files and 200 MB. The index is about as large; vectors
// need 4 bytes per dimension and passage more. At most indexcache.MaxIndexes indexes are
// stored.
//
// The package must not know specs, plans, model providers, or how it is called.
package bleve

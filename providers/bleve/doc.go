// Package bleve is the tool retrieve: full-text search in the files below a
// folder, with passages that can be cited.
//
//	Call: an index is taken (shelf); the folder is walked; what is new or changed
//	      is cut (passage), made into words (word) and indexed (index)
//	  --> query --BM25--> passages
//	      and, with embeddings, --vectors of an llm, cosine--> passages, fused
//	  --> text with path:lines, and the same as data
//
// The index is bleve's (scorch), with its analysis, scoring and storage. What it
// costs, measured with 2.5.7 on two cores and 1,000 files of 10 MB: 3 s to index,
// 9 MB of disk, 20 ms a question with the index opened and closed around it, 40 ms
// after a file changed; and 6 to 8 ms of each start of the program, for automata
// that scorch makes unasked.
//
// A folder has at most 20,000 files and 200 MB, an index about as much, and
// vectors 4 bytes a dimension and passage more; shelf.Kept indexes are kept.
//
// It must not know specs, plans, providers of models, or how it is called.
package bleve

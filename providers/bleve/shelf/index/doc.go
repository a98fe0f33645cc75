// Package index finds passages of files by their words and by their vectors, in
// an index of bleve.
//
//	Open(folder) | Create(folder) | InMemory() --> Index
//	Put(file, passages), Drop(path) --> batch --Flush--> bleve
//	Words(question) --BM25--> Hits
//	Like(vector)    --cosine over stored vectors--> Hits
//	Fuse(hits, hits, weight) --reciprocal ranks--> Hits
//
// A passage is a document of bleve: its words are indexed, its place and its
// vector only stored. The list of files is kept in the same index and changes in
// the same batch, so that one is never without the other.
//
// It must not know where files lie, how they are cut, or who makes vectors.
package index

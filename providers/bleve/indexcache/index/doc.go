// Package index finds passages of files by words and by vectors, in an index of bleve.
//
//	Open(folder) | Create(folder) | InMemory() --> Index
//	Put(file, passages), Drop(path) --> batch --Flush--> bleve
//	Words(question) --BM25--> Hits
//	Similar(vector) --cosine over stored vectors--> Hits
//	Fuse(hits, hits, weight) --reciprocal ranks--> Hits
//
// A passage is a document of bleve: its words are indexed, its place and vector only
// stored. The list of files is stored in the same index and updated in the same batch, so
// they are always consistent.
//
// The package must not know where files are, how they are split, or who makes vectors.
package index

// Package index finds passages of files by words and by vectors. An index is a folder, or
// in memory.
//
//	Open(folder) | Create(folder) | InMemory() --> Index
//	Put(file, passages), Drop(path) --> batch --Flush--> a segment and the manifest
//	Words(question) --BM25--> Hits
//	Similar(vector) --cosine over stored vectors--> Hits
//	Fuse(hits, hits, weight) --reciprocal ranks--> Hits
//
// A segment is immutable. A file belongs to the newest segment that contains it; what is
// left of it in older ones is removed when small segments are merged. The manifest lists
// segments and files and replaces the one before, so they are always consistent. All files
// have checksums.
//
// The package must not know where files are, how they are split, or who makes vectors.
package index

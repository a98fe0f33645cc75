package index

import (
	"errors"
	"maps"
	"slices"
)

// contextWeight is how often words of headings and file names count, compared with words
// of the text.
const contextWeight = 2

// File describes an indexed file. It is immutable.
type File struct {
	Path       string     `json:"path"`
	Size       int64      `json:"size"`     // when it was read
	Modified   int64      `json:"modified"` // modification time when it was read, in Unix nanoseconds
	Skip       SkipReason `json:"left,omitempty"`
	Passages   int        `json:"passages,omitempty"`   // number of passages
	Dimensions int        `json:"dimensions,omitempty"` // of its passages' vectors; 0 = none
	Terms      int        `json:"terms,omitempty"`      // of all passages together
}

// SkipReason is why a file has no passages.
type SkipReason byte

// The reasons.
const (
	NotSkipped SkipReason = iota // the file was read
	NoText                       // the file is not text
	TooLarge                     // the file is larger than the limit
)

// Place is the position of a passage in its file.
type Place struct {
	Start   int    `json:"start"` // line numbers, from 1
	End     int    `json:"end"`
	From    int    `json:"from"` // byte offsets
	To      int    `json:"to"`
	Heading string `json:"heading,omitempty"`
}

// Passage is a part of a file to index.
type Passage struct {
	Place   Place
	Text    string
	Context []string  // what it is part of, such as headings
	Vector  []float32 // of length 1; nil = none
}

// sortedFiles returns the files in order of their paths.
func sortedFiles(files map[string]*File) []*File {
	out := make([]*File, 0, len(files))
	for _, path := range slices.Sorted(maps.Keys(files)) {
		out = append(out, files[path])
	}
	return out
}

// filesByPath is the inverse of sortedFiles.
func filesByPath(list []*File) (map[string]*File, error) {
	out := make(map[string]*File, len(list))
	for _, f := range list {
		if f == nil || f.Path == "" || f.Passages < 0 || f.Terms < 0 || f.Dimensions < 0 || f.Skip > TooLarge || out[f.Path] != nil {
			return nil, errors.New("invalid list of files")
		}
		out[f.Path] = f
	}
	return out, nil
}

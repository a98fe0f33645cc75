package index

import (
	"encoding/json"
	"fmt"
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

// encodeFiles encodes the list of files.
func encodeFiles(files map[string]*File) []byte {
	sorted := make([]*File, 0, len(files))
	for _, path := range slices.Sorted(maps.Keys(files)) {
		sorted = append(sorted, files[path])
	}
	// strings and numbers always encode
	b, _ := json.Marshal(sorted)
	return b
}

// decodeFiles decodes the list. A file whose terms were not counted because the process
// ended gets an invalid size, so it is indexed again.
func decodeFiles(b []byte) (map[string]*File, error) {
	var sorted []*File
	if err := json.Unmarshal(b, &sorted); err != nil {
		return nil, fmt.Errorf("%w: invalid list of files: %w", ErrBroken, err)
	}
	out := make(map[string]*File, len(sorted))
	for _, f := range sorted {
		if f == nil || f.Path == "" || f.Passages < 0 || f.Dimensions < 0 || f.Skip > TooLarge || out[f.Path] != nil {
			return nil, fmt.Errorf("%w: invalid list of files", ErrBroken)
		}
		if f.Terms < 0 {
			f.Terms, f.Size = 0, -1
		}
		out[f.Path] = f
	}
	return out, nil
}

// id returns the id of a passage; ids sort by path and line.
func id(path string, passage int) string { return fmt.Sprintf("%s\x00%07d", path, passage) }

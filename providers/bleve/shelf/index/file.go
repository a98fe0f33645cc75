package index

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// contextWeight is how often a word of a heading or a file's name counts: as if
// it stood in the text that often more.
const contextWeight = 2

// File is what is known of a file that is indexed. It is never changed.
type File struct {
	Path       string `json:"path"`
	Size       int64  `json:"size"`     // of the file when it was read
	Modified   int64  `json:"modified"` // its time then, in nanoseconds since 1970
	Left       Left   `json:"left,omitempty"`
	Passages   int    `json:"passages,omitempty"`   // how many it has
	Dimensions int    `json:"dimensions,omitempty"` // of the vectors of its passages, 0 = there are none
	Terms      int    `json:"terms,omitempty"`      // how many all passages have together
}

// Left says why a file is indexed without a passage.
type Left byte

// The reasons.
const (
	Held     Left = iota // none: the file was read
	NoText               // it holds bytes that text does not
	TooLarge             // it is larger than what is read of a file
)

// Place is where in its file a passage stands.
type Place struct {
	Start   int    `json:"start"` // its lines, the first is 1
	End     int    `json:"end"`
	From    int    `json:"from"` // its bytes
	To      int    `json:"to"`
	Heading string `json:"heading,omitempty"`
}

// Passage is a part of a file as it is indexed.
type Passage struct {
	Place   Place
	Text    string
	Context []string  // texts that say what it is part of, such as headings
	Vector  []float32 // of length 1, nil = none
}

// list is how the files are kept.
func list(files map[string]*File) []byte {
	sorted := make([]*File, 0, len(files))
	for _, path := range slices.Sorted(maps.Keys(files)) {
		sorted = append(sorted, files[path])
	}
	// Texts and numbers always marshal.
	b, _ := json.Marshal(sorted)
	return b
}

// listed reads what list wrote. A file whose terms were not counted yet, because
// the process ended between, is as if it had another size: it is indexed again.
func listed(b []byte) (map[string]*File, error) {
	var sorted []*File
	if err := json.Unmarshal(b, &sorted); err != nil {
		return nil, fmt.Errorf("%w: its list of files: %w", ErrBroken, err)
	}
	out := make(map[string]*File, len(sorted))
	for _, f := range sorted {
		if f == nil || f.Path == "" || f.Passages < 0 || f.Dimensions < 0 || f.Left > TooLarge || out[f.Path] != nil {
			return nil, fmt.Errorf("%w: its list of files", ErrBroken)
		}
		if f.Terms < 0 {
			f.Terms, f.Size = 0, -1
		}
		out[f.Path] = f
	}
	return out, nil
}

// id names a passage: sorted, ids are in the order of paths and lines.
func id(path string, passage int) string { return fmt.Sprintf("%s\x00%07d", path, passage) }

package index

import (
	"maps"
	"os"
	"slices"

	"github.com/blevesearch/bleve/v2/analysis"
)

const (
	// maxBatch is how many bytes of passages and vectors are indexed at once: about a
	// second of work, which is lost if a call is interrupted.
	maxBatch = 2 << 20
	// maxSmall is how many small segments an index may have before they are merged.
	maxSmall = 8
	// smallSegment is the size of a segment, in passages, below which it is small. A batch
	// has about 2,000.
	smallSegment = 1000
)

// Index is a set of passages searched together. It is not safe for concurrent use, and a
// folder must be used by one Index at a time.
type Index struct {
	folder   string // "" = in memory
	analyzer analysis.Analyzer
	files    map[string]*File
	segments []*segment            // oldest first
	newest   map[string]location   // by path: where its passages are
	batch    map[string][]analyzed // by path
	bytes    int                   // size of the batch
	changed  bool                  // files or the batch differ from what is stored
}

// location is a file in a segment.
type location struct {
	segment *segment
	path    int
}

func newIndex(folder string, a analysis.Analyzer) *Index {
	return &Index{folder: folder, analyzer: a, files: map[string]*File{}, newest: map[string]location{}, batch: map[string][]analyzed{}}
}

// Open opens the index in a folder. It returns ErrBroken if it is damaged.
func Open(folder string, a analysis.Analyzer) (*Index, error) {
	x := newIndex(folder, a)
	if err := x.restore(); err != nil {
		return nil, broken(err)
	}
	return x, nil
}

// Create creates an empty index in a folder that must not exist.
func Create(folder string, a analysis.Analyzer) (*Index, error) {
	x := newIndex(folder, a)
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, broken(err)
	}
	return x, broken(x.save())
}

// InMemory creates an empty in-memory index.
func InMemory(a analysis.Analyzer) *Index { return newIndex("", a) }

// Files returns the files by path; the caller must not modify the map.
func (x *Index) Files() map[string]*File { return x.files }

// Passages returns the number of passages.
func (x *Index) Passages() (n int) {
	for _, f := range x.files {
		n += f.Passages
	}
	return n
}

// Put adds or replaces a file with its passages, which are found after Flush.
func (x *Index) Put(f File, passages []Passage) error {
	f.Passages, f.Terms, f.Dimensions = len(passages), 0, 0
	list := make([]analyzed, len(passages))
	for i, p := range passages {
		list[i] = analyze(x.analyzer, p)
		f.Terms += list[i].terms
		x.bytes += len(p.Text) + 4*len(p.Vector)
	}
	if len(passages) > 0 {
		f.Dimensions = len(passages[0].Vector)
	}
	x.files[f.Path], x.batch[f.Path], x.changed = &f, list, true
	if x.bytes < maxBatch {
		return nil
	}
	return x.Flush()
}

// Drop removes a file.
func (x *Index) Drop(path string) {
	if x.files[path] == nil {
		return
	}
	delete(x.batch, path)
	delete(x.files, path)
	x.changed = true
}

// Flush applies and stores all changes.
func (x *Index) Flush() error {
	if !x.changed {
		return nil
	}
	if len(x.batch) > 0 {
		b := newBuilder()
		for _, path := range slices.Sorted(maps.Keys(x.batch)) {
			b.file(path)
			for i, p := range x.batch[path] {
				b.add(i, p)
			}
		}
		s, err := x.store(b)
		if err != nil {
			return broken(err)
		}
		x.push(s)
		clear(x.batch)
		x.bytes = 0
	}
	if err := x.compact(); err != nil {
		return broken(err)
	}
	x.changed = false
	return broken(x.save())
}

// push adds the newest segment. It replaces the files that are in older ones.
func (x *Index) push(s *segment) {
	x.segments = append(x.segments, s)
	for i, path := range s.paths {
		x.newest[path] = location{s, i}
	}
}

// compact removes segments without files, and merges small ones, and those most of whose
// passages were replaced, if there are many.
func (x *Index) compact() error {
	x.segments = slices.DeleteFunc(x.segments, func(s *segment) bool { return !slices.ContainsFunc(s.paths, x.isIn(s)) })
	var small []*segment
	for _, s := range x.segments {
		if n := x.live(s); n < smallSegment || n < s.len()/2 {
			small = append(small, s)
		}
	}
	if len(small) <= maxSmall {
		return nil
	}
	b := newBuilder()
	for _, s := range small {
		if err := x.loadVectors(s); err != nil {
			return err
		}
		if err := b.merge(s, x.isIn(s)); err != nil {
			return err
		}
	}
	merged, err := x.store(b)
	if err != nil {
		return err
	}
	x.segments = slices.DeleteFunc(x.segments, func(s *segment) bool { return slices.Contains(small, s) })
	x.push(merged)
	return nil
}

// isIn returns whether a file's passages are those of a segment.
func (x *Index) isIn(s *segment) func(path string) bool {
	return func(path string) bool { return x.files[path] != nil && x.newest[path].segment == s }
}

// live returns the number of passages of a segment that were not replaced.
func (x *Index) live(s *segment) (n int) {
	for i, path := range s.paths {
		if x.isIn(s)(path) {
			n += s.first[i+1] - s.first[i]
		}
	}
	return n
}

// passagesOf returns the number of stored passages of a file.
func (x *Index) passagesOf(path string) int {
	at, ok := x.newest[path]
	if !ok {
		return 0
	}
	return at.segment.first[at.path+1] - at.segment.first[at.path]
}

package index

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/document"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/mapping"

	"github.com/pexctl/pex/engine/regular"
)

const (
	// maxBatch is how many bytes of passages and vectors are indexed at once: about a second
	// of work, which is what is lost when a call is cut.
	maxBatch = 2 << 20

	// maxSegments is how many batches an index in memory takes: bleve does not
	// merge them there, and a question looks into each.
	maxSegments = 300

	filesKey = "pex_files"
)

// Index is passages that are searched together. It is not safe for concurrent
// use; whoever opened it closes it.
type Index struct {
	bleve   bleve.Index
	mapping *mapping.IndexMappingImpl
	mu      sync.Mutex // guards inside, which who opens sets and who gives up reads
	inside  engine
	dead    chan struct{} // closed when bleve's own goroutines ended early
	once    sync.Once     // closes it
	store   string        // what bleve calls this index in reports; "" = in memory

	files   map[string]*File
	batch   *bleve.Batch
	pending map[string][]*document.Document // of files in the batch
	bytes   int                             // of them
	changed bool                            // files are not as they are kept
	batches int
}

// Open opens the index in a folder; ErrBroken = it is no whole index, ErrBusy =
// somebody else has it open.
func Open(folder string, m *mapping.IndexMappingImpl) (*Index, error) {
	return begin(folder, m, func(settings map[string]any) (bleve.Index, error) {
		if err := openable(folder); err != nil {
			return nil, err
		}
		return bleve.OpenUsing(folder, settings)
	})
}

// openable says whether an index has only files and folders: bleve would wait for
// the other end of a named pipe.
func openable(folder string) error {
	return filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && !e.Type().IsRegular() {
			err = fmt.Errorf("%w: %s is %w", ErrBroken, path, regular.ErrType)
		}
		return err
	})
}

// Create makes an empty index in a folder that is not there yet.
func Create(folder string, m *mapping.IndexMappingImpl) (*Index, error) {
	return begin(folder, m, func(settings map[string]any) (bleve.Index, error) {
		return bleve.NewUsing(folder, m, scorch.Name, scorch.Name, settings)
	})
}

// InMemory makes an empty index that ends with the process.
func InMemory(m *mapping.IndexMappingImpl) (*Index, error) { return Create("", m) }

func begin(folder string, m *mapping.IndexMappingImpl, open func(map[string]any) (bleve.Index, error)) (*Index, error) {
	x := &Index{mapping: m, dead: make(chan struct{})}
	x.watch(folder)
	err := x.do(func() (err error) {
		if x.bleve, err = open(settings()); err != nil {
			return err
		}
		return x.load()
	})
	if err != nil {
		x.Abandon()
		return nil, err
	}
	x.forget()
	return x, nil
}

// load reads the list of files and holds it against what is there.
func (x *Index) load() (err error) {
	inside, err := x.bleve.Advanced()
	if err != nil {
		return err
	}
	x.mu.Lock()
	x.inside = inside
	x.mu.Unlock()
	kept, err := x.bleve.GetInternal([]byte(filesKey))
	if err != nil {
		return err
	}
	if x.files = map[string]*File{}; len(kept) > 0 {
		if x.files, err = listed(kept); err != nil {
			return err
		}
	}
	there, err := x.bleve.DocCount()
	if n := x.Passages(); err == nil && there != uint64(n) {
		err = fmt.Errorf("%w: it has %d passages and should have %d", ErrBroken, there, n)
	}
	return err
}

// Files are the files, by path; the caller must not change the map.
func (x *Index) Files() map[string]*File { return x.files }

// Passages is how many there are.
func (x *Index) Passages() (n int) {
	for _, f := range x.files {
		n += f.Passages
	}
	return n
}

// Full says that the index is to be made anew.
func (x *Index) Full() bool { return x.store == "" && x.batches >= maxSegments }

// Put puts a file with its passages in the place of what was there of it. What
// is put is found after Flush.
func (x *Index) Put(f File, passages []Passage) error {
	f.Passages, f.Terms, f.Dimensions = len(passages), 0, 0
	docs := make([]*document.Document, len(passages))
	for i, p := range passages {
		docs[i] = document.NewDocument(id(f.Path, i))
		if err := x.mapping.MapDocument(docs[i], fieldsOf(p)); err != nil {
			return err
		}
		if err := x.batch.IndexAdvanced(docs[i]); err != nil {
			return err
		}
		x.bytes += len(p.Text) + 4*len(p.Vector)
	}
	if len(passages) > 0 {
		f.Terms, f.Dimensions = -1, len(passages[0].Vector)
	}
	x.remove(f.Path, len(passages))
	x.files[f.Path], x.pending[f.Path], x.changed = &f, docs, true
	if x.bytes < maxBatch {
		return nil
	}
	return x.apply()
}

// Drop takes a file out.
func (x *Index) Drop(path string) {
	if x.files[path] == nil {
		return
	}
	x.remove(path, 0)
	delete(x.pending, path)
	delete(x.files, path)
	x.changed = true
}

// remove takes out the passages of a file from the n-th on.
func (x *Index) remove(path string, n int) {
	if old := x.files[path]; old != nil {
		for i := n; i < old.Passages; i++ {
			x.batch.Delete(id(path, i))
		}
	}
}

// Flush makes all that was put and dropped be found, and kept.
func (x *Index) Flush() error {
	for x.changed {
		if err := x.apply(); err != nil {
			return err
		}
	}
	return nil
}

// apply gives the batch to bleve. How many terms there are is known only then,
// so the list of files is whole with the next batch.
func (x *Index) apply() error {
	x.batch.SetInternal([]byte(filesKey), list(x.files))
	if err := x.do(func() error { return x.bleve.Batch(x.batch) }); err != nil {
		return err
	}
	x.batches++
	counted := x.pending
	x.forget()
	for _, path := range slices.Sorted(maps.Keys(counted)) {
		f := *x.files[path]
		f.Terms = termsOf(counted[path])
		x.changed = x.changed || f.Terms != x.files[path].Terms
		x.files[path] = &f
	}
	return nil
}

// forget begins a new batch.
func (x *Index) forget() {
	x.batch, x.pending, x.bytes, x.changed = x.bleve.NewBatch(), map[string][]*document.Document{}, 0, false
}

// termsOf counts the terms of documents that were indexed.
func termsOf(docs []*document.Document) (n int) {
	for _, d := range docs {
		for _, f := range d.Fields {
			if f.Name() == wordsField {
				n += f.AnalyzedLength()
			}
		}
	}
	return n
}

// pathOf is the file of a passage with an id.
func pathOf(id string) string {
	path, _, _ := strings.Cut(id, "\x00")
	return path
}

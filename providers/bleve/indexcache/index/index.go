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
	// maxBatch is how many bytes of passages and vectors are indexed at once: about a
	// second of work, which is lost if a call is interrupted.
	maxBatch = 2 << 20

	// maxSegments is the maximum number of batches of an in-memory index: bleve does not
	// merge them, and each query reads all.
	maxSegments = 300

	filesKey = "pex_files"
)

// Index is a set of passages searched together. It is not safe for concurrent use. Its
// opener must close it.
type Index struct {
	bleve   bleve.Index
	mapping *mapping.IndexMappingImpl
	mu      sync.Mutex // guards engine, which opening sets and Abandon reads
	engine  engine
	failed  chan struct{} // closed when bleve's own goroutines fail
	once    sync.Once     // closes failed
	store   string        // name of the index in bleve's reports; "" = in memory

	files   map[string]*File
	batch   *bleve.Batch
	pending map[string][]*document.Document // documents of the files in the batch
	bytes   int                             // size of the batch
	changed bool                            // files differs from the stored list
	batches int
}

// Open opens the index in a folder. It returns ErrBroken if it is damaged, and ErrBusy if
// it is open elsewhere.
func Open(folder string, m *mapping.IndexMappingImpl) (*Index, error) {
	return openIndex(folder, m, func(settings map[string]any) (bleve.Index, error) {
		if err := openable(folder); err != nil {
			return nil, err
		}
		return bleve.OpenUsing(folder, settings)
	})
}

// openable checks that an index has only files and folders: bleve would block on a named
// pipe.
func openable(folder string) error {
	return filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && !e.Type().IsRegular() {
			err = fmt.Errorf("%w: %s is %w", ErrBroken, path, regular.ErrType)
		}
		return err
	})
}

// Create creates an empty index in a folder that must not exist.
func Create(folder string, m *mapping.IndexMappingImpl) (*Index, error) {
	return openIndex(folder, m, func(settings map[string]any) (bleve.Index, error) {
		return bleve.NewUsing(folder, m, scorch.Name, scorch.Name, settings)
	})
}

// InMemory creates an empty in-memory index.
func InMemory(m *mapping.IndexMappingImpl) (*Index, error) { return Create("", m) }

func openIndex(folder string, m *mapping.IndexMappingImpl, open func(map[string]any) (bleve.Index, error)) (*Index, error) {
	x := &Index{mapping: m, failed: make(chan struct{})}
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
	x.resetBatch()
	return x, nil
}

// load reads the list of files and compares it with the index.
func (x *Index) load() (err error) {
	inside, err := x.bleve.Advanced()
	if err != nil {
		return err
	}
	x.mu.Lock()
	x.engine = inside
	x.mu.Unlock()
	stored, err := x.bleve.GetInternal([]byte(filesKey))
	if err != nil {
		return err
	}
	if x.files = map[string]*File{}; len(stored) > 0 {
		if x.files, err = decodeFiles(stored); err != nil {
			return err
		}
	}
	count, err := x.bleve.DocCount()
	if n := x.Passages(); err == nil && count != uint64(n) {
		err = fmt.Errorf("%w: %d passages, want %d", ErrBroken, count, n)
	}
	return err
}

// Files returns the files by path; the caller must not modify the map.
func (x *Index) Files() map[string]*File { return x.files }

// Passages returns the number of passages.
func (x *Index) Passages() (n int) {
	for _, f := range x.files {
		n += f.Passages
	}
	return n
}

// Full reports whether the index must be recreated.
func (x *Index) Full() bool { return x.store == "" && x.batches >= maxSegments }

// Put adds or replaces a file with its passages, which are found after Flush.
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

// Drop removes a file.
func (x *Index) Drop(path string) {
	if x.files[path] == nil {
		return
	}
	x.remove(path, 0)
	delete(x.pending, path)
	delete(x.files, path)
	x.changed = true
}

// remove removes the passages of a file from number n on.
func (x *Index) remove(path string, n int) {
	if old := x.files[path]; old != nil {
		for i := n; i < old.Passages; i++ {
			x.batch.Delete(id(path, i))
		}
	}
}

// Flush applies and stores all changes.
func (x *Index) Flush() error {
	for x.changed {
		if err := x.apply(); err != nil {
			return err
		}
	}
	return nil
}

// apply passes the batch to bleve. Only this counts the terms, so the list of files is
// complete with the next batch.
func (x *Index) apply() error {
	x.batch.SetInternal([]byte(filesKey), encodeFiles(x.files))
	if err := x.do(func() error { return x.bleve.Batch(x.batch) }); err != nil {
		return err
	}
	x.batches++
	counted := x.pending
	x.resetBatch()
	for _, path := range slices.Sorted(maps.Keys(counted)) {
		f := *x.files[path]
		f.Terms = termsOf(counted[path])
		x.changed = x.changed || f.Terms != x.files[path].Terms
		x.files[path] = &f
	}
	return nil
}

// resetBatch starts a new batch.
func (x *Index) resetBatch() {
	x.batch, x.pending, x.bytes, x.changed = x.bleve.NewBatch(), map[string][]*document.Document{}, 0, false
}

// termsOf counts the terms of indexed documents.
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

// pathOf returns the file of a passage id.
func pathOf(id string) string {
	path, _, _ := strings.Cut(id, "\x00")
	return path
}

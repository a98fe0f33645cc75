package journal

import (
	"errors"

	"github.com/pexctl/pex/engine/journal/commitlog"
)

// Disk is the seam through which tests make a disk fail.
type Disk = disk

// Through has every file that the home opens written through f.
func (h *Home) Through(f func(Disk) Disk) { h.wrap = f }

// ThroughLog has the commit log of the home written through f.
func (h *Home) ThroughLog(f func(commitlog.Disk) commitlog.Disk) { h.shared.wrap = f }

// OpenPoolThrough is OpenPool with its file written through f.
func OpenPoolThrough(path string, o PoolOptions, f func(Disk) Disk) (*Pool, error) {
	o.wrap = f
	return OpenPool(path, o)
}

// OpenLogThrough is OpenLog with its file written through f.
func OpenLogThrough(path string, line func(Line) error, f func(Disk) Disk) (*Log, error) {
	return openLog(path, line, f)
}

// WithoutLinks makes the file system one without links.
func WithoutLinks() (restore func()) {
	before := linkFile
	linkFile = func(string, string) error { return errors.ErrUnsupported }
	return func() { linkFile = before }
}

// WithoutWitness has a file that is open keep no extent in its lock file.
func (f *File) WithoutWitness() { f.saveExtent = nil }

// SealHead adds to a head the sum over all before it.
var SealHead = sealHead

// MaxTexts is the maximum number of texts that the runs of a pool share.
const MaxTexts = maxTexts

// Compact replaces all long texts of a body by references, as if they had been used
// before. It returns nil if there are none.
func Compact(body []byte) (_ []byte, texts [][]byte) {
	b, ok, err := compact(nil, body, func(text []byte) (int, error) {
		texts = append(texts, text)
		return len(texts), nil
	})
	if err != nil || !ok {
		return nil, nil
	}
	return b, texts
}

// Expand expands a body of Compact.
func Expand(compact []byte, texts [][]byte) ([]byte, error) {
	return expand(compact, func(n int) ([]byte, error) { return texts[n-1], nil })
}

// SyncLate does the background sync of durability Async.
func (f *File) SyncLate() error { return f.home.syncLate(lateSync{path: f.path, f: f}) }

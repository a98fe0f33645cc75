package watch

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/pexctl/pex/internal/app/fspath"
)

// Files are files and folders to watch. Safe for concurrent use.
type Files struct {
	mu    sync.Mutex
	paths map[string]bool
}

// Add adds files, which need not exist, and folders with everything in them.
func (f *Files) Add(paths ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.paths == nil {
		f.paths = map[string]bool{}
	}
	for _, p := range paths {
		f.paths[fspath.Real(p)] = true
	}
}

// maxFilesBelow is the maximum number of files watched below one folder.
const maxFilesBelow = 5000

// stamps maps files to values that differ between versions; "" if the file does
// not exist.
type stamps map[string]string

// stamps returns the stamps of the files.
func (f *Files) stamps() stamps {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := stamps{}
	for path := range f.paths {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			out[path] = ""
		case info.IsDir():
			out.folder(path)
		default:
			out[path] = stamp(info)
		}
	}
	return out
}

// folder adds the files below a folder.
func (s stamps) folder(dir string) {
	n := 0
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil: // removed in the meantime
			return nil
		case path != dir && temporary(d.Name()):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		}
		if n++; n > maxFilesBelow {
			return fs.SkipAll
		}
		if info, err := d.Info(); err == nil {
			s[path] = stamp(info)
		}
		return nil
	})
}

func stamp(info fs.FileInfo) string {
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano(), info.Mode())
}

// temporary reports whether a name is one of editors' temporary files.
func temporary(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") || strings.HasSuffix(name, ".tmp") || strings.HasPrefix(name, "#")
}

// changedSince returns the files that differ from earlier stamps, sorted.
func (s stamps) changedSince(before stamps) []string {
	changed := map[string]bool{}
	for path, at := range s {
		if before[path] != at {
			changed[path] = true
		}
	}
	for path, at := range before {
		if _, there := s[path]; !there && at != "" {
			changed[path] = true
		}
	}
	return slices.Sorted(maps.Keys(changed))
}

package protect

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/specfs"
)

// The reasons why a file is protected, in the text for the model.
var (
	errCompiled = errors.New("the run was compiled from it")
	errTests    = errors.New("it is in the directory of tests, which are executed")
	errSpec     = errors.New("a file with this name and content would be a spec, a test file or a suite, which are executed")
	errSuite    = errors.New("an evaluation reads it")
	errProgram  = errors.New("a tool executes it")
	errImported = errors.New("a program beside it would load it")
)

// Files holds the protected files of one spec. It is safe for concurrent use.
type Files struct {
	collect func() *protectedFiles
}

// New returns the protected files of a spec, a path as in dsl.Load; "" for only
// those that every project protects.
func New(spec string, o dsl.Options) *Files {
	return &Files{sync.OnceValue(func() *protectedFiles {
		c := &protectedFiles{files: map[string]error{}}
		if spec != "" {
			c.spec(spec, o)
		}
		return c
	})}
}

// Check returns the reason why a file must not be written, or nil. The path is
// absolute with links resolved. content is nil if unknown.
func (f *Files) Check(path string, content []byte) error {
	c := f.collect()
	if why := c.files[key(path)]; why != nil {
		return why
	}
	for _, dir := range c.tests {
		if strings.HasPrefix(key(path), dir+"/") {
			return errTests
		}
	}
	if specfs.Executable(path, content) || specfs.Executable(path, nil) {
		return errSpec
	}
	if now, err := os.Stat(path); err == nil && slices.ContainsFunc(c.fileInfos, func(known fs.FileInfo) bool { return os.SameFile(now, known) }) {
		return errCompiled
	}
	return c.checkImported(path)
}

// key returns the comparison key of a path: case is ignored, as on some file
// systems.
func key(path string) string { return strings.ToLower(filepath.ToSlash(filepath.Clean(path))) }

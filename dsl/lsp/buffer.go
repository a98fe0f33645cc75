package lsp

import (
	"path/filepath"
	"slices"
	"sync"

	"github.com/pexctl/pex/dsl/lsp/outline"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/engine/text"
)

// buffer is one version of a document. It is immutable.
type buffer struct {
	uri      string
	path     string // absolute, with links in its folder resolved
	version  int
	open     bool // by the client
	text     *textIndex
	tooLarge bool // too large to be stored

	once  sync.Once
	root  *outline.Node
	named sync.Once
	names []nameUse
}

// maxBuffer is the maximum size of a stored text in bytes: more than the maximum
// size of a file.
const maxBuffer = 2 << 20

func newBuffer(uri, path string, version int, text *textIndex) *buffer {
	b := &buffer{uri: uri, path: path, version: version, open: true, text: text}
	if len(text.s) > maxBuffer {
		b.tooLarge, b.text = true, newText("", text.utf8)
	}
	return b
}

// outline returns the tree of the text, parsed on first use.
func (b *buffer) outline() *outline.Node {
	b.once.Do(func() { b.root = outline.Parse(b.text.s) })
	return b.root
}

// kind returns the kind that the file declares. A case in its own folder need not
// declare one.
func (b *buffer) kind() string {
	kind := b.outline().Get("kind").String()
	if kind == "" && filepath.Base(b.path) == caseFile {
		return "Tests"
	}
	return kind
}

// caseFile is the name of the file of a case in its own folder.
const caseFile = specfs.CaseFile

var (
	files = []string{specfs.SpecFile, caseFile, specfs.SuiteFile, specfs.ServerFile}
	ours  = text.Regexp(`(?m)^\x{feff}?["']?apiVersion["']?[ \t]*:[ \t]*["']?pex/`)
	other = text.Regexp(`(?m)^\x{feff}?["']?apiVersion["']?[ \t]*:[ \t]*["']?[a-z0-9.]*[a-z][a-z0-9./]+`)
)

// spec reports whether a document is a file of the language, by its top-level
// keys or, while it has none, by its name.
func (b *buffer) spec() bool {
	switch ext := filepath.Ext(b.path); {
	case ext != ".yaml" && ext != ".yml" && ext != "":
		return false
	case ours().MatchString(b.text.s):
		return true
	case other().MatchString(b.text.s):
		return false
	}
	return slices.Contains(specfs.Kinds, b.kind()) || slices.Contains(files, filepath.Base(b.path))
}

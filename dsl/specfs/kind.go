package specfs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/text"
)

// Kinds of files.
const (
	KindAgent   = "Agent"
	KindLibrary = "Library"
	KindTests   = "Tests"
	KindSuite   = "Suite"
	KindPrices  = "Prices"
	KindServer  = "Server"
	KindTokens  = "Tokens"
)

// Kinds are all kinds of files.
var Kinds = []string{KindAgent, KindLibrary, KindTests, KindSuite, KindPrices, KindServer, KindTokens}

// The files that folders stand for.
const (
	CaseFile   = "case.yaml"
	SuiteFile  = "suite.yaml"
	ServerFile = "server.yaml"
)

// Kind returns the kind of a file from its header, one of Kinds, or "" for other
// files. A case.yaml is always Tests. A file with a kind may still be invalid;
// loading it reports that.
func Kind(path string) (string, error) {
	h, err := readHeader(path)
	return h.Kind, err
}

// header holds the plain top-level keys of a file.
type header struct {
	Version string // the apiVersion
	Kind    string
	Spec    string // as written
	Tests   bool   // it has tests
}

// isLanguageFile reports whether a file has an apiVersion of the language, of any version
// and kind.
func (h header) isLanguageFile() bool { return strings.HasPrefix(h.Version, "pex/") }

// topKey matches a line that starts with one of the keys.
var topKey = text.Regexp(`(?m)^(?:"|')?(apiVersion|kind|spec|tests)(?:"|')?[ \t]*:(?:[ \t]+([^\r\n]*?))?[ \t]*\r?$`)

// readHeader reads the header of a file of at most the maximum size.
func readHeader(path string) (header, error) {
	f, err := os.OpenFile(FileOf(path), os.O_RDONLY|syscall.O_NONBLOCK, 0) // never wait for a pipe
	if err != nil {
		return header{}, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return header{}, errors.Join(err, fmt.Errorf("%s: %w", path, ErrNotFile))
	}
	text, err := io.ReadAll(io.LimitReader(f, syntax.MaxFile))
	if err != nil {
		return header{}, err
	}
	h := headerOf(text)
	if h.Kind == "" && filepath.Base(path) == CaseFile {
		h.Kind = KindTests
	}
	return h, nil
}

func headerOf(text []byte) (h header) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) {
		return headerOfTree(text)
	}
	for _, m := range topKey().FindAllSubmatch(text, -1) {
		switch string(m[1]) {
		case "apiVersion":
			h.Version = syntax.ScalarText(m[2])
		case "kind":
			h.Kind = syntax.ScalarText(m[2])
		case "spec":
			h.Spec = syntax.ScalarText(m[2])
		case "tests":
			h.Tests = true
		}
	}
	return h
}

// headerOfTree returns the header of a file in flow style, such as JSON.
func headerOfTree(text []byte) header {
	tree := syntax.Parse(&syntax.Source{Text: text}, &syntax.Report{})
	return header{Version: syntax.TextOf(tree, "apiVersion"), Kind: syntax.TextOf(tree, "kind"), Spec: syntax.TextOf(tree, "spec"), Tests: tree.Get("tests") != nil}
}

// Executable reports whether a file would be read as a file of one of the Kinds: by
// Walk, by Files, or because another file names it. content
// is nil for the file on disk.
func Executable(path string, content []byte) bool {
	if !IsYAML(strings.ToLower(filepath.Base(path))) {
		return false
	}
	if IsCase(strings.ToLower(path)) {
		return true
	}
	var h header
	if content != nil {
		h = headerOf(content)
	} else if read, err := readHeader(path); err == nil {
		h = read
	}
	return slices.Contains(Kinds, h.Kind) || h.isLanguageFile() || h.Kind != "" && h.Tests
}

// KindWith is like Kind, for a file that may differ from the one on disk.
func KindWith(path string, read func(path string) ([]byte, error)) string {
	if read != nil {
		abs := Absolute(path)
		if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
			abs = filepath.Join(dir, filepath.Base(abs))
		}
		if text, err := read(abs); !errors.Is(err, ErrOnDisk) {
			kind := headerOf(text).Kind
			if kind == "" && filepath.Base(path) == CaseFile {
				kind = KindTests
			}
			return kind
		}
	}
	kind, _ := Kind(path) // reading errors are reported when the file is loaded
	return kind
}

package specfs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/pexctl/pex/dsl/syntax"
)

// The kinds of files.
const (
	KindAgent   = "Agent"
	KindLibrary = "Library"
	KindTests   = "Tests"
	KindSuite   = "Suite"
	KindPrices  = "Prices"
)

// Kinds are all kinds of files.
var Kinds = []string{KindAgent, KindLibrary, KindTests, KindSuite, KindPrices}

// The files that folders stand for.
const (
	CaseFile  = "case.yaml"
	SuiteFile = "suite.yaml"
)

// Kind is the kind of a file, Agent, Library, Tests, Suite or Prices, by a look at its
// top; "" = it is none of ours. A case.yaml is Tests whether it says so or not.
// A file may name a kind and still be broken: loading it reports that.
func Kind(path string) (string, error) {
	h, err := readHeader(path)
	return h.Kind, err
}

// header is what a quick look at a file finds: its plain keys at the top level.
type header struct {
	Version string // the apiVersion
	Kind    string
	Spec    string // as written
	Tests   bool   // there are some
}

// ours says that a file is written in the language, as its apiVersion has it: in
// any version, of any kind.
func (h header) ours() bool { return strings.HasPrefix(h.Version, "pex/") }

// topKey is a line that begins with one of the keys.
var topKey = regexp.MustCompile(`(?m)^(?:"|')?(apiVersion|kind|spec|tests)(?:"|')?[ \t]*:(?:[ \t]+([^\r\n]*?))?[ \t]*\r?$`)

// readHeader looks at a file of at most the size that may be loaded.
func readHeader(path string) (header, error) {
	f, err := os.OpenFile(FileOf(path), os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe is never waited for
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
	for _, m := range topKey.FindAllSubmatch(text, -1) {
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

// headerOfTree is the header of a file in brackets, such as JSON.
func headerOfTree(text []byte) header {
	tree := syntax.Parse(&syntax.Source{Text: text}, &syntax.Report{})
	return header{Version: syntax.TextOf(tree, "apiVersion"), Kind: syntax.TextOf(tree, "kind"), Spec: syntax.TextOf(tree, "spec"), Tests: tree.Get("tests") != nil}
}

// Executable reports whether a file would be taken for a spec, a library, tests,
// a suite or prices: by Walk, by Files, or where another file names it. content
// nil = the file as it is on disk.
func Executable(path string, content []byte) bool {
	if !isYAML(strings.ToLower(filepath.Base(path))) {
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
	return slices.Contains(Kinds, h.Kind) || h.ours() || h.Kind != "" && h.Tests
}

// KindWith is Kind for a file that may not be as it is on disk.
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
	kind, _ := Kind(path) // what cannot be read is reported by who loads it
	return kind
}

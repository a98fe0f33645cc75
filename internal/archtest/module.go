package archtest

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Module is the parsed source of a Go module, without nested modules, testdata and folders that the go command skips.
type Module struct {
	Dir      string
	Path     string
	Packages []*Package // sorted by folder
	fset     *token.FileSet
	importer types.Importer // see export
}

// Package is a folder with Go files of any build constraints.
type Package struct {
	Folder string // relative to the module, slash-separated; "." is the module itself
	Files  []*File
}

// File is one Go file.
type File struct {
	Name      string // file name
	Path      string // relative to the module
	Test      bool
	Tagged    bool // has a //go:build line
	Generated bool
	Lines     int
	Imports   []Import
	AST       *ast.File
}

// Import is one import of a file.
type Import struct {
	Path string
	Name string // "" = default
	Line int
}

var moduleLine = regexp.MustCompile(`(?m)^module\s+(\S+)`)

// Load parses every Go file of the module in dir.
func Load(dir string) (*Module, error) {
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	m := &Module{Dir: dir, fset: token.NewFileSet()}
	if found := moduleLine.FindSubmatch(mod); found != nil {
		m.Path = string(found[1])
	}
	byFolder := map[string]*Package{}
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skipFolder(dir, p, d.Name())
		}
		if filepath.Ext(p) != ".go" {
			return nil
		}
		return m.add(byFolder, p)
	})
	slices.SortFunc(m.Packages, func(a, b *Package) int { return cmp.Compare(a.Folder, b.Folder) })
	return m, err
}

func skipFolder(root, p, name string) error {
	if p == root {
		return nil
	}
	if name == "testdata" || name == "vendor" || name[0] == '.' || name[0] == '_' {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(p, "go.mod")); err == nil {
		return fs.SkipDir // a nested module
	}
	return nil
}

// add parses a file into its package. It ignores scripts (//go:build ignore).
func (m *Module) add(byFolder map[string]*Package, p string) error {
	src, err := os.ReadFile(p)
	if err != nil {
		return err
	}
	tree, err := parser.ParseFile(m.fset, p, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(m.Dir, p)
	if err != nil {
		return err
	}
	rel = filepath.ToSlash(rel)
	f := &File{
		Name: path.Base(rel), Path: rel, AST: tree,
		Test:      strings.HasSuffix(rel, "_test.go"),
		Generated: ast.IsGenerated(tree),
		Lines:     bytes.Count(src, []byte("\n")),
	}
	tag := buildTag(tree)
	if tag == "ignore" {
		return nil
	}
	f.Tagged = tag != ""
	for _, spec := range tree.Imports {
		f.Imports = append(f.Imports, m.importOf(spec))
	}
	folder := path.Dir(rel)
	if byFolder[folder] == nil {
		byFolder[folder] = &Package{Folder: folder}
		m.Packages = append(m.Packages, byFolder[folder])
	}
	byFolder[folder].Files = append(byFolder[folder].Files, f)
	return nil
}

func (m *Module) importOf(spec *ast.ImportSpec) Import {
	unquoted, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		unquoted = spec.Path.Value
	}
	out := Import{Path: unquoted, Line: m.fset.Position(spec.Pos()).Line}
	if spec.Name != nil {
		out.Name = spec.Name.Name
	}
	return out
}

// buildTag returns the expression of the file's //go:build line, or "".
func buildTag(f *ast.File) string {
	for _, group := range f.Comments {
		if group.Pos() > f.Package {
			break
		}
		for _, c := range group.List {
			if constraint.IsGoBuild(c.Text) {
				if x, err := constraint.Parse(c.Text); err == nil {
					return x.String()
				}
			}
		}
	}
	return ""
}

// folderOf converts an import path of the module to a folder.
func (m *Module) folderOf(importPath string) (string, bool) {
	if importPath == m.Path {
		return ".", true
	}
	return strings.CutPrefix(importPath, m.Path+"/")
}

// Place returns the path and line of a node of f.
func (m *Module) Place(f *File, n ast.Node) string {
	return fmt.Sprintf("%s:%d", f.Path, m.fset.Position(n.Pos()).Line)
}

// shipped lists the packages of internal/ that are part of the product.
var shipped = []string{"internal/app", "internal/sandboxfs", "internal/git", "internal/process", "internal/httpclient", "internal/gctune"}

// isSupport reports whether a package exists only for tests or maintenance.
func isSupport(folder string) bool {
	keeps := strings.HasPrefix(folder, "internal/") && !slices.ContainsFunc(shipped, func(s string) bool { return covers(s, folder) })
	return keeps || strings.HasSuffix(folder, "test")
}

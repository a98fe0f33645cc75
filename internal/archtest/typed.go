package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// typesOf type-checks a package without its tests, using the export data that the go command provides for its
// imports.
func (m *Module) typesOf(p *Package) (*types.Info, error) {
	exports, err := m.exported()
	if err != nil {
		return nil, err
	}
	lookup := func(importPath string) (io.ReadCloser, error) {
		file := exports[importPath]
		if file == "" {
			return nil, fmt.Errorf("no export data of %s", importPath)
		}
		return os.Open(file)
	}
	var files []*ast.File
	for _, f := range p.Files {
		if builds, err := build.Default.MatchFile(filepath.Join(m.Dir, p.Folder), f.Name); err != nil {
			return nil, err
		} else if builds && !f.Test {
			files = append(files, f.AST)
		}
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: importer.ForCompiler(m.fset, "gc", lookup)}
	if _, err := conf.Check(m.Path+"/"+p.Folder, m.fset, files, info); err != nil {
		return nil, err
	}
	return info, nil
}

// exported returns the paths of the export data of the module's packages and their dependencies. It runs the go
// command once.
func (m *Module) exported() (map[string]string, error) {
	if m.exports != nil {
		return m.exports, nil
	}
	cmd := exec.Command("go", "list", "-e", "-export", "-deps", "-json=ImportPath,Export", "./...")
	cmd.Dir = m.Dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	raw, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	out := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(raw)); ; {
		var one struct{ ImportPath, Export string }
		if err := dec.Decode(&one); errors.Is(err, io.EOF) {
			m.exports = out
			return out, nil
		} else if err != nil {
			return nil, err
		}
		out[one.ImportPath] = one.Export
	}
}

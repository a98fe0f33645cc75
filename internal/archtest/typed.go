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
	if err := m.export(); err != nil {
		return nil, err
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
	conf := types.Config{Importer: m.importer}
	if _, err := conf.Check(m.Path+"/"+p.Folder, m.fset, files, info); err != nil {
		return nil, err
	}
	return info, nil
}

// export sets the importer of the module's packages and their dependencies. It runs the go command once.
func (m *Module) export() error {
	if m.importer != nil {
		return nil
	}
	cmd := exec.Command("go", "list", "-e", "-export", "-deps", "-json=ImportPath,Export", "./...")
	cmd.Dir = m.Dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	raw, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	files := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(raw)); ; {
		var one struct{ ImportPath, Export string }
		if err := dec.Decode(&one); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		files[one.ImportPath] = one.Export
	}
	m.importer = importer.ForCompiler(m.fset, "gc", func(importPath string) (io.ReadCloser, error) {
		file := files[importPath]
		if file == "" {
			return nil, fmt.Errorf("no export data of %s", importPath)
		}
		return os.Open(file)
	})
	return nil
}

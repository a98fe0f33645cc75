package initcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pexctl/pex/builtins/scaffold"
	"github.com/pexctl/pex/cmd/pexctl/testcmd"
	"github.com/pexctl/pex/internal/app/catalog"
	"github.com/pexctl/pex/internal/app/failure"
)

// testedProject returns a project with its golden files. It creates the project in a
// temporary folder and runs its tests, which write them, so a project from init
// has passed its tests.
func testedProject(ctx context.Context, components *catalog.Catalog, files []scaffold.File) ([]scaffold.File, error) {
	dir, err := os.MkdirTemp("", "pex-init-")
	if err != nil {
		return nil, failure.Infra(fmt.Errorf("create a project: %w", err))
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, failure.Infra(fmt.Errorf("create a project: %w", err))
	}
	if err := scaffold.Write(dir, files, false); err != nil {
		return nil, failure.Infra(fmt.Errorf("create a project: %w", err))
	}
	if err := testcmd.WriteGoldens(ctx, components, dir); err != nil || ctx.Err() != nil {
		return nil, errors.Join(err, ctx.Err())
	}
	return withGoldens(dir, files)
}

// withGoldens returns the files, followed by those that the tests wrote.
func withGoldens(dir string, files []scaffold.File) ([]scaffold.File, error) {
	there := map[string]bool{}
	for _, f := range files {
		there[f.Path] = true
	}
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || there[path] {
			return err
		}
		content, err := fs.ReadFile(root, path)
		files = append(files, scaffold.File{Path: path, Content: content})
		return err
	})
	if err != nil {
		return nil, failure.Infra(fmt.Errorf("create a project: %w", err))
	}
	return files, nil
}

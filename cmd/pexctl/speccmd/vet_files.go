package speccmd

import (
	"path/filepath"
	"strings"

	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
)

// vetFiles returns the files for the arguments of vet, each once: DIR/... means
// everything below a folder, no argument the spec of the working folder.
func vetFiles(c *call) ([]string, error) {
	paths := c.Args
	if len(paths) == 0 && fspath.Exists("spec.yaml") {
		paths = []string{"spec.yaml"}
	}
	if len(paths) == 0 || paths[0] == "" {
		return nil, failure.WithHintf(failure.Usagef("no spec given"), "use pexctl vet spec.yaml, or pexctl vet ./... for everything below this folder")
	}
	var out []string
	seen := map[string]bool{}
	for _, path := range paths {
		files, err := filesOf(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if at := fspath.Real(file); !seen[at] {
				seen[at] = true
				out = append(out, file)
			}
		}
	}
	return out, nil
}

// filesOf returns the files for one argument.
func filesOf(path string) ([]string, error) {
	dir, ok := strings.CutSuffix(path, "...")
	if !ok || dir != "" && !strings.HasSuffix(dir, "/") {
		return []string{path}, nil
	}
	files, err := specfs.Files(filepath.Clean(dir))
	switch {
	case err != nil:
		return nil, failure.Usagef("%s: %w", path, err)
	case len(files) == 0:
		return nil, failure.Usagef("no spec, library, test, suite, price, server or token file below %s", filepath.Clean(dir))
	}
	return files, nil
}

package initcmd

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/internal/app/failure"
)

// Limits of a project folder.
const (
	maxProjectFiles = 500
	maxProjectDepth = 8
)

// skippedFolders are folders that other tools create in a project.
var skippedFolders = []string{"node_modules", "venv", "env", "site-packages", "__pycache__", "build", "dist"}

// projectFiles reads the JSON and YAML files of a project folder, sorted by path.
// It skips hidden folders, links and installed dependencies.
func projectFiles(c *call, dir string) (out []convert.Input, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return failure.Usagef("%w", err)
		case d.IsDir():
			rel, _ := filepath.Rel(dir, path)
			hidden := path != dir && strings.HasPrefix(d.Name(), ".")
			if hidden || slices.Contains(skippedFolders, d.Name()) || strings.Count(rel, string(filepath.Separator)) >= maxProjectDepth {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular() || !slices.Contains([]string{".json", ".yaml", ".yml"}, strings.ToLower(filepath.Ext(path))):
			return nil
		case len(out) == maxProjectFiles:
			return failure.Usagef("%s contains more than %d JSON and YAML files; give the folder of the components, or the files with --with", dir, maxProjectFiles)
		}
		in, err := foreignFile(c, path)
		in.Found = true
		out = append(out, in)
		return err
	})
	if err == nil && len(out) == 0 {
		err = failure.Usagef("%s contains no JSON or YAML files", dir)
	}
	return out, err
}

// isFolder reports whether a path given to import is a folder.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// defaultFolder returns the default for the new folder. It is not the imported folder,
// because files of two kinds of projects in one folder are hard to tell apart.
func defaultFolder(dir, source string) string {
	a, errA := filepath.Abs(dir)
	b, errB := filepath.Abs(source)
	if errA == nil && errB == nil && a == b {
		return dir + "-pex"
	}
	return dir
}

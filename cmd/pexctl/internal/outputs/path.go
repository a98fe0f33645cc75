package outputs

import (
	"os"
	"path/filepath"

	"github.com/pexctl/pex/internal/app/fspath"
)

// ReportedPath returns a path in the form for reports: relative to the working
// folder or, on GitHub, to the root of the checkout.
func ReportedPath(path string) string {
	base := os.Getenv("GITHUB_WORKSPACE")
	if path == "" || base == "" || os.Getenv("GITHUB_ACTIONS") != "true" {
		return fspath.Shown(path)
	}
	if rel, err := filepath.Rel(fspath.Real(base), fspath.Real(path)); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return fspath.Shown(path)
}

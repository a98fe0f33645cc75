package api

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/problem"
)

// RunFile is a file that a run is given.
type RunFile struct {
	Name     string `json:"name" minLength:"1" maxLength:"255" doc:"Name in prompts, with which file tools open it, such as reports/may.csv."`
	Artifact string `json:"artifact" minLength:"1" doc:"SHA-256 of an uploaded artifact."`
}

// invalidFile returns the problem of the first file with an invalid name.
func invalidFile(files []RunFile) *problem.Problem {
	seen := map[string]bool{}
	for i, f := range files {
		why := whyInvalid(f.Name)
		if why == "" && seen[f.Name] {
			why = "is a duplicate"
		}
		if why != "" {
			return problem.New(problem.InvalidPath, "file name %q %s; use a relative path such as reports/may.csv", f.Name, why).At(fmt.Sprintf("/files/%d/name", i))
		}
		seen[f.Name] = true
	}
	return nil
}

// whyInvalid returns why a client must not give a file a name, or "". A name never is part
// of a path on disk, but models and people read it as one.
func whyInvalid(name string) string {
	decoded, err := url.PathUnescape(name)
	if err != nil {
		decoded = name
	}
	for _, n := range []string{name, decoded} {
		switch {
		case strings.ContainsFunc(n, unicode.IsControl):
			return "has a control character"
		case strings.Contains(n, `\`):
			return "has a backslash"
		case !filepath.IsLocal(filepath.FromSlash(n)) || path.IsAbs(n) || len(n) > 1 && n[1] == ':':
			return "is not below the folder of the run"
		case path.Clean(n) != n, n == ".":
			return "is not a clean path"
		}
	}
	return ""
}

// files returns the files for a run. Each must be an artifact of the tenant.
func (c *caller) files(given []RunFile) (out []agents.File, err error) {
	for i, f := range given {
		if c.Artifacts == nil {
			return nil, noArtifact(f.Artifact)
		}
		_, err := c.Artifacts.Use(f.Artifact)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, noArtifact(f.Artifact).At(fmt.Sprintf("/files/%d/artifact", i))
		}
		if err != nil {
			return nil, err
		}
		out = append(out, agents.File{Name: f.Name, Artifact: f.Artifact})
	}
	return out, nil
}

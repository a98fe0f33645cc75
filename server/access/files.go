package access

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/pexctl/pex/engine/artifact"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/problem"
)

// invalidFile returns the problem of the first file with an invalid name.
func invalidFile(files []agents.File) *problem.Problem {
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

// useFiles keeps the files of a run. Each must be an artifact of the tenant.
func (c *Client) useFiles(files []agents.File) error {
	for i, f := range files {
		if c.Artifacts == nil {
			return NoArtifact(f.Artifact)
		}
		_, err := c.Artifacts.Use(f.Artifact)
		if errors.Is(err, fs.ErrNotExist) {
			return NoArtifact(f.Artifact).At(fmt.Sprintf("/files/%d/artifact", i))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// StoreFile stores a file for runs of the client's tenant. existed reports that it was stored
// already.
func (c *Client) StoreFile(content io.Reader) (info artifact.Info, existed bool, err error) {
	if c.Artifacts == nil {
		return info, false, problem.New(problem.NotFound, "this server stores no artifacts")
	}
	info, existed, err = c.Artifacts.Put(content)
	return info, existed, Full(err)
}

// Full returns the problem of a store of artifacts that is full, or err if it is another one.
func Full(err error) error {
	if full, ok := errors.AsType[*artifact.QuotaError](err); ok {
		return problem.New(problem.ArtifactsFull, "%v; delete runs that use artifacts, then run pexctl store gc", full)
	}
	return err
}

// NoArtifact is the problem of an artifact that does not exist for the client.
func NoArtifact(digest string) *problem.Problem {
	return problem.New(problem.NotFound, "no artifact %q", digest)
}

package engine

import (
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/pexctl/pex/engine/artifact"
)

// Start is the content of a run's start record: everything a later session needs.
type Start struct {
	Program json.RawMessage `json:"program"` // Program.Source
	Digest  string          `json:"digest"`
	Name    string          `json:"name"` // of the spec
	Version string          `json:"version,omitempty"`
	Input   Input           `json:"input"`
	At      time.Time       `json:"-"` // when the run started
}

// FilePaths returns the user's files as absolute paths by the names shown in prompts;
// nil if their folder is unknown. artifacts is the home with those that are artifacts.
func (in *Input) FilePaths(artifacts string) map[string]string {
	if len(in.Files) == 0 || in.FilesDir == "" && artifacts == "" {
		return nil
	}
	out := make(map[string]string, len(in.Files))
	for _, name := range in.Files {
		switch digest, isArtifact := in.Artifacts[name]; {
		case isArtifact && artifacts == "":
		case isArtifact:
			out[name] = artifact.Path(artifacts, digest)
		case in.FilesDir == "":
		case filepath.IsAbs(name):
			out[name] = name
		default:
			out[name] = filepath.Join(in.FilesDir, name)
		}
	}
	return out
}

package archive

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"
)

// version of the format; new fields do not need a new version.
const version = 1

const (
	kind         = "pex archive"
	manifestName = "manifest.json"
)

// Manifest is the last file of an archive.
type Manifest struct {
	Version int       `json:"v"`
	Kind    string    `json:"kind"`
	Created time.Time `json:"made"`
	By      string    `json:"by,omitempty"` // program and version
	Files   []File    `json:"files"`
}

// File is a file of an archive.
type File struct {
	Name   string    `json:"name"` // slash-separated
	Size   int64     `json:"size"`
	SHA256 string    `json:"sha256"`
	Time   time.Time `json:"time"` // modification time
}

// readManifest reads the manifest and compares it with the files read.
func readManifest(r io.Reader, found []File) (Manifest, error) {
	var m Manifest
	if err := json.NewDecoder(r).Decode(&m); err != nil {
		return m, fmt.Errorf("%w: its manifest cannot be read: %w", ErrDamaged, err)
	}
	if m.Kind != kind {
		return m, fmt.Errorf("%w: its manifest has an unknown kind: %q", ErrDamaged, m.Kind)
	}
	if m.Version > version {
		return m, fmt.Errorf("the archive has format %d, this program reads up to %d; use a later one", m.Version, version)
	}
	same := func(a, b File) bool { return a.Name == b.Name && a.Size == b.Size && a.SHA256 == b.SHA256 }
	if slices.EqualFunc(m.Files, found, same) {
		return m, nil
	}
	for i := range min(len(m.Files), len(found)) {
		if !same(m.Files[i], found[i]) {
			return m, fmt.Errorf("%w: %s does not match the manifest", ErrDamaged, found[i].Name)
		}
	}
	return m, fmt.Errorf("%w: it contains %d files, but its manifest lists %d", ErrDamaged, len(found), len(m.Files))
}

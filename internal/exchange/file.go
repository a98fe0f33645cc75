package exchange

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pexctl/pex/engine/secret"
)

// Read reads the file of a recording.
func Read(path string) (*Recording, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// Write puts the recording into a file, and says whether that changed it. A
// recording that still looks as if it held a key is not written.
func (r *Recording) Write(path string) (changed bool, err error) {
	if seen := r.suspect(); seen.Looks != "" {
		return false, fmt.Errorf("%s is not written: %s stands in the recording", path, seen.Looks)
	}
	text := r.Format()
	old, err := os.ReadFile(path)
	if err == nil && bytes.Equal(old, text) {
		return false, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return false, err
	}
	return true, os.WriteFile(path, text, 0o644)
}

// suspect finds what looks like a key, also where the file has base64.
func (r *Recording) suspect() secret.Sighting {
	if seen := secret.InRecord(string(r.Format()), ""); seen.Looks != "" {
		return seen
	}
	for _, x := range r.Exchanges {
		for _, body := range [][]byte{x.Request.Body, x.Response.Body()} {
			if seen := secret.InJSON(body); seen.Looks != "" {
				return seen
			}
		}
	}
	return secret.Sighting{}
}

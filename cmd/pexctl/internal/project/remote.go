package project

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pexctl/pex/builtins/fetchspec"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine/regular"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/homedir"
	"github.com/pexctl/pex/internal/app/version"
)

// A spec from a URL is stored in the home, in a folder named after its digest. That
// folder is its project, so it cannot read other files of this machine, and its
// runs can be resumed, forked and shown like others.

// Local returns the file of a spec: word itself, or for a URL the fetched file.
// It fetches a URL once per command.
func Local(c *ui.Call, word string) (string, error) {
	if !fetchspec.IsURL(word) {
		return word, nil
	}
	if file, ok := c.Fetched[word]; ok {
		return file, nil
	}
	if c.IsSet("root") {
		return "", failure.Usagef("--root cannot be used with a URL; a spec from a URL is its own project")
	}
	home, err := HomeHere(c)
	if err != nil {
		return "", err
	}
	body, err := fetchspec.Fetch(c.Context, word, version.UserAgent(), os.Getenv)
	if err != nil {
		return "", failure.Infra(err)
	}
	file, err := StoreFetched(home, body)
	if err != nil {
		return "", failure.Infra(err)
	}
	c.Fetched[word] = file
	return file, nil
}

// StoreFetched returns the file in the home that stores these bytes.
func StoreFetched(home string, body []byte) (string, error) {
	sum := sha256.Sum256(body)
	dir, err := filepath.Abs(filepath.Join(home, "remote", hex.EncodeToString(sum[:])))
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "spec.yaml")
	if known, err := regular.ReadFile(file); err == nil && sha256.Sum256(known) == sum {
		return file, nil
	}
	homedir.Create(home)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, ".spec-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(body)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return "", fmt.Errorf("store the fetched spec: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return file, nil
}

// OptionsFor returns the options for a spec after Local.
func OptionsFor(c *ui.Call, word string) dsl.Options {
	o := SpecOptions(c)
	if file, ok := c.Fetched[word]; ok {
		o.Root, o.Address = filepath.Dir(file), word
	}
	return o
}

package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/regular"
)

// file is an artifact, or an incomplete upload, on disk.
type file struct {
	Info    // without SHA256 for an incomplete upload
	path    string
	changed time.Time
}

// each calls do for the files below the folder of a store, except those that disappear
// meanwhile.
func each(dir string, do func(file) error) error {
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		f := file{Info{Size: info.Size()}, path, info.ModTime()}
		switch name := e.Name(); {
		case IsDigest(name):
			f.SHA256 = name
		case !strings.HasPrefix(name, temporary):
			return nil
		}
		return do(f)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// List returns the artifacts of a home, sorted.
func List(home string) (all []Info, err error) {
	err = each(filepath.Join(home, Folder), func(f file) error {
		if f.SHA256 != "" {
			all = append(all, f.Info)
		}
		return nil
	})
	slices.SortFunc(all, func(a, b Info) int { return strings.Compare(a.SHA256, b.SHA256) })
	return all, err
}

// IsEmpty reports whether a home has neither artifacts nor incomplete uploads.
func IsEmpty(home string) (bool, error) {
	isEmpty := true
	err := each(filepath.Join(home, Folder), func(file) error {
		isEmpty = false
		return filepath.SkipAll
	})
	return isEmpty, err
}

// Sweep removes the artifacts of a home that no run uses and that were uploaded, or last
// used for a new run, before a time. It also removes incomplete uploads from before that
// time. With dryRun it removes nothing.
func Sweep(home string, used map[string]bool, before time.Time, dryRun bool) (removed int, freed int64, err error) {
	err = each(filepath.Join(home, Folder), func(f file) error {
		if used[f.SHA256] || !f.changed.Before(before) {
			return nil
		}
		if !dryRun {
			if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if f.SHA256 != "" {
			removed++
		}
		freed += f.Size
		return nil
	})
	return removed, freed, err
}

// Verify returns an error if the content of an artifact of a home does not have its
// digest.
func Verify(home, digest string) error {
	f, err := regular.Open(Path(home, digest))
	if err != nil {
		return err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return err
	}
	if found := hex.EncodeToString(hash.Sum(nil)); found != digest {
		return fmt.Errorf("the content has the SHA-256 %s", found)
	}
	return nil
}

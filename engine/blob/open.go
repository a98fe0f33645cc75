package blob

import (
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// Opener opens the store at an address of its scheme. It connects to nothing: the first operation does.
type Opener func(address *url.URL) (Store, error)

// AddressError reports that the address of a store cannot be used. It does not contain the address, which may have a
// password.
type AddressError struct{ Reason string }

// Error says what an address must be.
func (e *AddressError) Error() string { return "address of the blob store: " + e.Reason }

// Open opens the store at an address, such as file:///var/lib/pex/blobs. openers has the schemes besides file. A store
// that is an io.Closer must be closed.
func Open(address string, openers map[string]Opener) (Store, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" {
		return nil, &AddressError{"it must be a URL, such as file:///var/lib/pex/blobs"}
	}
	if open, ok := openers[u.Scheme]; ok {
		return open(u)
	}
	if u.Scheme == "file" {
		return openDir(u)
	}
	known := slices.Sorted(maps.Keys(openers))
	return nil, &AddressError{fmt.Sprintf("unknown scheme %.20q; the schemes are file, %s", u.Scheme, strings.Join(known, ", "))}
}

func openDir(u *url.URL) (Store, error) {
	if u.Host != "" && u.Host != "localhost" {
		return nil, &AddressError{"a file URL has three slashes and an absolute path, such as file:///var/lib/pex/blobs"}
	}
	path := filepath.FromSlash(u.Path)
	if drive := strings.TrimPrefix(u.Path, "/"); filepath.VolumeName(filepath.FromSlash(drive)) != "" {
		path = filepath.FromSlash(drive) // file:///C:/folder
	}
	if !filepath.IsAbs(path) || u.RawQuery != "" || u.Fragment != "" {
		return nil, &AddressError{"a file URL has an absolute path and nothing else, such as file:///var/lib/pex/blobs"}
	}
	return NewDir(path), nil
}

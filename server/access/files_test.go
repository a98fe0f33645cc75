package access_test

import (
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/pexctl/pex/server/access"
)

// A name that is accepted stays below a folder, also when it is decoded.
func FuzzFileNames(f *testing.F) {
	for _, name := range []string{"a.txt", "a/b", "../a", "/a", "%2e%2e/a", "a%2f..%2f..%2fb", "a\x00", "a%00", `..\a`, "C:a", "a//b", ".", "", "\u202e.txt", "%zz"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if access.InvalidFile(name) != nil {
			return
		}
		decoded, err := url.PathUnescape(name)
		if err != nil {
			decoded = name
		}
		for _, n := range []string{name, decoded} {
			if !filepath.IsLocal(n) || path.Join("/root", n) == "/root" || !strings.HasPrefix(path.Join("/root", n), "/root/") || strings.ContainsFunc(n, unicode.IsControl) {
				t.Errorf("%q was accepted", name)
			}
		}
	})
}

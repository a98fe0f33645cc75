package bundle_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/internal/app/bundle"
)

// source is the program of hand-made bundles.
const source = `{"kind":"Agent"}`

// handMade returns a bundle with a manifest, in which $DIGEST and $SIZE are the digest and the size of the program.
func handMade(manifest, contents string) []byte {
	manifest = strings.NewReplacer("$DIGEST", specfs.Digest([]byte(source)), "$SIZE", fmt.Sprint(len(source))).Replace(manifest)
	return []byte("pex-bundle 1\n" + manifest + "\n" + source + contents)
}

// withFiles returns a manifest with files.
func withFiles(files string) string {
	return `{"version":"dev","name":"x","digest":"$DIGEST","built_in":"b","root":"project","dir":"project/desk","program":$SIZE,"files":[` + files + `]}`
}

func TestHostileBundles(t *testing.T) {
	const smallest = `{"version":"dev","name":"x","digest":"$DIGEST","built_in":"b","root":"project","dir":"project","program":$SIZE}`
	one := func(path string) string { return withFiles(`{"path":"` + path + `","size":1}`) }
	many := strings.Builder{}
	for i := range bundle.MaxFiles + 1 {
		fmt.Fprintf(&many, `,{"path":"f%06d","size":0}`, i)
	}
	tests := map[string]struct{ manifest, contents, want string }{
		"smallest":             {smallest, "", ""},
		"one file":             {one("project/a"), "x", ""},
		"parent":               {one("../a"), "x", "not a path below the project"},
		"parent inside":        {one("project/../../a"), "x", "not a path below the project"},
		"absolute":             {one("/etc/passwd"), "x", "not a path below the project"},
		"backslash":            {one(`project\\a`), "x", "not a path below the project"},
		"empty":                {one(""), "x", "not a path below the project"},
		"the folder itself":    {one("."), "x", "not a path below the project"},
		"NUL":                  {one(`a\u0000b`), "x", "not a path below the project"},
		"long name":            {one(strings.Repeat("a", 256)), "x", "not a path below the project"},
		"long path":            {one(strings.Repeat("a/", 600) + "a"), "x", "not a path below the project"},
		"twice":                {withFiles(`{"path":"a","size":0},{"path":"a","size":0}`), "", "not in order"},
		"order":                {withFiles(`{"path":"b","size":0},{"path":"a","size":0}`), "", "not in order"},
		"case":                 {withFiles(`{"path":"A","size":0},{"path":"a","size":0}`), "", "differ only in case"},
		"case of the folder":   {one("Project/a"), "x", "differ only in case"},
		"file and folder":      {withFiles(`{"path":"a","size":0},{"path":"a/b","size":0}`), "", "a file and a folder"},
		"the spec's folder":    {one("project/desk"), "x", "a file and a folder"},
		"many files":           {withFiles(many.String()[1:]), "", "more than 1000 files"},
		"too little":           {one("a"), "", "its size does not match"},
		"too much":             {one("a"), "xy", "its size does not match"},
		"negative":             {withFiles(`{"path":"a","size":-1}`), "", "its size does not match"},
		"overflow":             {withFiles(`{"path":"a","size":9223372036854775807}`), "x", "its size does not match"},
		"unknown key":          {`{"x":1,` + smallest[1:], "", "not in the form"},
		"white space":          {" " + smallest, "", "not in the form"},
		"no JSON":              {"{", "", "manifest: "},
		"spec elsewhere":       {strings.Replace(smallest, `"program"`, `"spec":"other/spec.yaml","program"`, 1), "", "outside of its project"},
		"folder elsewhere":     {strings.Replace(smallest, `"dir":"project"`, `"dir":"projects"`, 1), "", "outside of its project"},
		"allowed folder above": {strings.Replace(smallest, `"program"`, `"allow":["../.."],"program"`, 1), "", "not a path below the project"},
		"another program":      {strings.Replace(smallest, "$DIGEST", "sha256:00", 1), "", "does not match its digest"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			cache := t.TempDir()
			b := handMade(tt.manifest, tt.contents)
			_, err := bundle.Open(b, bundle.ID(b), cache)
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, bundle.ErrDamaged) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if left, _ := filepath.Glob(filepath.Join(cache, "*")); len(left) > 0 {
				t.Errorf("unpacked: %v", left)
			}
		})
	}
}

func TestOtherFormats(t *testing.T) {
	b := []byte("pex-bundle 2\n{}\n")
	_, err := bundle.Open(b, bundle.ID(b), t.TempDir())
	if e, ok := errors.AsType[*bundle.FormatError](err); !ok || e.Format != "pex-bundle 2" || !strings.Contains(err.Error(), "start a worker with the version") {
		t.Error(err)
	}
	good := handMade(withFiles(""), "")
	for _, b := range [][]byte{nil, []byte("pex-bundle 1"), []byte("pex-bundle 1\n{}"), []byte("\x1f\x8b\n"), good[1:]} {
		if _, err := bundle.Open(b, bundle.ID(b), t.TempDir()); !errors.Is(err, bundle.ErrDamaged) {
			t.Errorf("%.20q: %v", b, err)
		}
	}
}

// TestEveryChangedByteIsFound: a bundle is named by its content.
func TestEveryChangedByteIsFound(t *testing.T) {
	b := handMade(withFiles(`{"path":"a","size":3}`), "abc")
	id, cache := bundle.ID(b), t.TempDir()
	for i := range b {
		changed := bytes.Clone(b)
		changed[i] ^= 1
		if _, err := bundle.Open(changed, id, cache); !errors.Is(err, bundle.ErrDamaged) {
			t.Fatalf("byte %d: %v", i, err)
		}
	}
}

// TestCacheIsAFile: the error is no damage, and names the program.
func TestCacheIsAFile(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	if err := os.WriteFile(cache, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b := handMade(withFiles(`{"path":"a","size":1}`), "x")
	if _, err := bundle.Open(b, bundle.ID(b), cache); err == nil || errors.Is(err, bundle.ErrDamaged) || !strings.Contains(err.Error(), "unpack the program x") {
		t.Error(err)
	}
}

// FuzzOpen: whatever the bytes, nothing is written outside of the cache, and what opens once opens
// again.
func FuzzOpen(f *testing.F) {
	f.Add(handMade(withFiles(`{"path":"project/a","size":3},{"path":"project/b/c","size":0}`), "abc"))
	f.Add(handMade(withFiles(`{"path":"../a","size":3}`), "abc"))
	f.Add([]byte("pex-bundle 1\n{}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		outside := t.TempDir()
		cache := filepath.Join(outside, "cache")
		_, err := bundle.Open(b, bundle.ID(b), cache)
		if err == nil {
			_, err = bundle.Open(b, bundle.ID(b), cache)
			if err != nil {
				t.Errorf("opened once only: %v", err)
			}
		}
		entries, readErr := os.ReadDir(outside)
		if readErr != nil || len(entries) > 1 || len(entries) == 1 && entries[0].Name() != "cache" {
			t.Errorf("written beside the cache: %v %v", entries, readErr)
		}
	})
}

package bleve_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/providers/bleve"
)

// TestIndexFollowsTheFiles compares a tool, and one of a new process, with a tool without a cache.
func TestIndexFollowsTheFiles(t *testing.T) {
	dir, cache := plant(t, ships), t.TempDir()
	cached := build(t, tool.Settings{Dir: dir, Cache: cache}, nil)
	steps := []struct {
		name, query string
		do          func()
		want        string
	}{
		{"first", "hull ice", func() {}, "fram.md:5-7"},
		{"changed", "hull ice", func() { write(t, dir, "fram.md", "# Fram\n\nno more\n") }, ""},
		{"new", "hull ice", func() { write(t, dir, "docs/new.md", "a hull\n") }, "docs/new.md:1-1"},
		{"changed at the same size", "hull ice", func() { write(t, dir, "docs/new.md", "a sail\n") }, ""},
		{"moved", "sail", func() {
			if err := os.Rename(filepath.Join(dir, "docs/new.md"), filepath.Join(dir, "other.md")); err != nil {
				t.Fatal(err)
			}
		}, "other.md:1-1"},
		{"gone", "sail", func() {
			if err := os.Remove(filepath.Join(dir, "other.md")); err != nil {
				t.Fatal(err)
			}
		}, ""},
	}
	for _, s := range steps {
		s.do()
		_, hits, _ := ask(t, cached, s.query)
		if places(hits) != s.want {
			t.Errorf("%s: %s, want %s", s.name, places(hits), s.want)
		}
		_, next, _ := ask(t, build(t, tool.Settings{Dir: dir, Cache: cache}, nil), s.query)
		_, fresh, _ := ask(t, build(t, tool.Settings{Dir: dir}, nil), s.query)
		if d := cmp.Diff(fresh, hits) + cmp.Diff(fresh, next); d != "" {
			t.Errorf("%s: %s", s.name, d)
		}
	}
}

// A file is not read again while its size and modification time are the same. The test changes the text only, to see
// whether the index is used.
func TestIndexIsReused(t *testing.T) {
	dir, cache := plant(t, ships), t.TempDir()
	s := tool.Settings{Dir: dir, Cache: cache}
	ask(t, build(t, s, nil), "hull")
	name := filepath.Join(dir, "fram.md")
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("x", int(info.Size()))
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if _, hits, _ := ask(t, build(t, s, nil), "hull"); places(hits) != "fram.md:5-7" {
		t.Errorf("%s: the index was not reused", places(hits))
	}
	other := func(c *bleve.Config) { c.Language = "de" }
	if _, hits, _ := ask(t, build(t, s, other), "hull"); len(hits) != 0 {
		t.Errorf("%s: the index of other settings was used", places(hits))
	}
}

// After any damage to the cache, answers are correct and nothing is reported.
func TestDamagedCacheIsRebuilt(t *testing.T) {
	for _, name := range []string{"manifest", "*.seg", ""} {
		for kind, harm := range map[string]func(string) error{
			"empty":     func(name string) error { return os.Truncate(name, 0) },
			"truncated": func(name string) error { return os.Truncate(name, 100) },
			"rubbish": func(name string) error {
				return os.WriteFile(name, []byte(strings.Repeat("rubbish ", 9000)), 0o600)
			},
			"gone": os.RemoveAll,
			"a folder": func(name string) error {
				return errors.Join(os.RemoveAll(name), os.MkdirAll(filepath.Join(name, "x"), 0o700))
			},
			"a file": func(name string) error {
				return errors.Join(os.RemoveAll(name), os.WriteFile(name, nil, 0o600))
			},
		} {
			if name == "" && (kind == "empty" || kind == "truncated" || kind == "rubbish") {
				continue
			}
			t.Run(kind+" "+name, func(t *testing.T) {
				dir, cache := plant(t, ships), t.TempDir()
				s := tool.Settings{Dir: dir, Cache: cache}
				ask(t, build(t, s, nil), "hull")
				names, err := filepath.Glob(filepath.Join(cache, "retrieve", "*", "index", name))
				if err != nil || len(names) == 0 {
					t.Fatal(names, err)
				}
				for _, n := range names {
					if err := harm(n); err != nil {
						t.Fatal(err)
					}
				}
				for range 2 {
					if _, hits, progress := ask(t, build(t, s, nil), "hull"); places(hits) != "fram.md:5-7" || len(progress) > 0 {
						t.Errorf("%s, %q", places(hits), progress)
					}
				}
			})
		}
	}
}

func TestUnwritableCacheIsReported(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(cache, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, hits, progress := ask(t, build(t, tool.Settings{Dir: plant(t, ships), Cache: cache}, nil), "hull")
	if len(hits) != 1 || len(progress) != 1 || !strings.Contains(progress[0], "the index cannot be stored") {
		t.Errorf("%s %q", places(hits), progress)
	}
}

func TestToolsOfOneProcessShareACache(t *testing.T) {
	dir, cache := plant(t, nil), t.TempDir()
	for i := range 50 {
		write(t, dir, fmt.Sprintf("%d.md", i), fmt.Sprintf("ship number%d", i))
	}
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			tool := build(t, tool.Settings{Dir: dir, Cache: cache}, nil)
			for i := range 50 {
				if _, hits, progress := ask(t, tool, fmt.Sprint("number", i)); len(hits) != 1 || len(progress) > 0 {
					t.Errorf("%d: %s %q", i, places(hits), progress)
				}
			}
		})
	}
	wg.Wait()
}

func TestLongIndexingReportsProgress(t *testing.T) {
	dir := plant(t, nil)
	for i := range 200 {
		write(t, dir, fmt.Sprintf("%d.md", i), "ship")
	}
	if _, _, progress := ask(t, build(t, tool.Settings{Dir: dir}, nil), "ship"); len(progress) != 1 || progress[0] != "indexing 200 files" {
		t.Errorf("progress %q", progress)
	}
}

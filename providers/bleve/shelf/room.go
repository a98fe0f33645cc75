package shelf

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Kept is how many shelves stand beside each other; the one that was used
// longest ago makes room for a new one.
const Kept = 16

// crowd removes the oldest of the shelves beside a new one, but none that is in
// use.
func crowd(dir string) {
	type shelf struct {
		dir string
		at  time.Time
	}
	var all []shelf
	entries, _ := os.ReadDir(filepath.Dir(dir))
	for _, e := range entries {
		other := filepath.Join(filepath.Dir(dir), e.Name())
		if e.IsDir() && other != dir {
			all = append(all, shelf{other, used(other)})
		}
	}
	slices.SortFunc(all, func(a, b shelf) int { return cmp.Or(a.at.Compare(b.at), strings.Compare(a.dir, b.dir)) })
	excess := len(all) + 1 - Kept
	for _, old := range all {
		if excess <= 0 {
			return
		}
		if f, err := try(old.dir); err == nil {
			// What cannot be removed stays; it does no harm.
			_ = os.RemoveAll(old.dir)
			_ = f.Close()
			excess--
		}
	}
}

// used is when a shelf was used last.
func used(dir string) time.Time {
	for _, name := range []string{filepath.Join(dir, lockName), dir} {
		if info, err := os.Stat(name); err == nil {
			return info.ModTime()
		}
	}
	return time.Time{}
}

package badger

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// format is the version of the directory's layout.
const format = 1

// phase is how far the last session came.
type phase string

const (
	opening phase = "opening" // Badger's files may or may not be as before
	writing phase = "writing" // there is a .mem file, with what was written
	closing phase = "closing" // the .mem files are being turned into tables
	closed  phase = "closed"  // all is in the files listed
)

// sentinel is what pex-store.json holds: a witness beside Badger's files of
// what they were. Badger takes a directory that lost its MANIFEST for an empty
// store and deletes the rest, and one that lost a .mem file for a shorter one;
// this file is how those are told from a new store.
type sentinel struct {
	Format       int      `json:"format"`
	ID           string   `json:"id"`
	Initialised  bool     `json:"initialised"` // Badger has opened it once
	Phase        phase    `json:"phase"`
	Interactions uint64   `json:"interactions"`    // at the last close; there may be more, never fewer
	Files        []string `json:"files,omitempty"` // of a closed store, sorted
}

// inventory is the names of the files in a directory, sorted.
type inventory []string

func list(dir string) (inventory, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list memory store: %w", err)
	}
	var out inventory
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out, nil
}

func (f inventory) count(suffix string) int {
	n := 0
	for _, name := range f {
		if strings.HasSuffix(name, suffix) {
			n++
		}
	}
	return n
}

func (f inventory) has(name string) bool { return slices.Contains(f, name) }

// badgers are the files that hold Badger's data.
func (f inventory) badgers() []string {
	var out []string
	for _, name := range f {
		switch filepath.Ext(name) {
		case ".sst", ".vlog", ".mem":
			out = append(out, name)
		default:
			if name == "MANIFEST" || name == "KEYREGISTRY" {
				out = append(out, name)
			}
		}
	}
	return out
}

// inspect reads the sentinel and holds the directory against it.
func (s *Store) inspect(files inventory) (sentinel, error) {
	raw, err := os.ReadFile(filepath.Join(s.dir, sentinelFile))
	if errors.Is(err, fs.ErrNotExist) {
		if found := files.badgers(); len(found) > 0 {
			return sentinel{}, s.damaged(fmt.Sprintf("%s is missing beside %s", sentinelFile, found[0]), nil)
		}
		return s.fresh(files)
	}
	if err != nil {
		return sentinel{}, fmt.Errorf("read memory store: %w", err)
	}
	var mark sentinel
	if err := json.Unmarshal(raw, &mark); err != nil {
		return mark, s.damaged(sentinelFile+" cannot be read", err)
	}
	if mark.Format > format {
		return mark, &NewerError{Dir: s.dir, Format: mark.Format}
	}
	if mark.Format < 1 || mark.ID == "" {
		return mark, s.damaged(sentinelFile+" is not that of a store", nil)
	}
	return mark, s.complete(mark, files)
}

// complete says whether the files that must be there are.
func (s *Store) complete(mark sentinel, files inventory) error {
	if !mark.Initialised {
		return nil
	}
	if !files.has("MANIFEST") {
		return s.damaged("MANIFEST is missing", nil)
	}
	if mark.Phase == writing && files.count(".mem") == 0 {
		return s.damaged("the .mem file of a session that did not end is missing", nil)
	}
	for _, name := range mark.Files {
		if !files.has(name) {
			return s.damaged(name+" is missing", nil)
		}
	}
	return nil
}

// fresh begins a new store, in a directory that only its owner may enter if
// nothing else lives there.
func (s *Store) fresh(files inventory) (sentinel, error) {
	if !slices.ContainsFunc(files, func(name string) bool { return name != lockFile }) {
		if err := os.Chmod(s.dir, 0o700); err != nil {
			return sentinel{}, fmt.Errorf("make memory store: %w", err)
		}
	}
	return sentinel{Format: format, ID: rand.Text()}, nil
}

// begin notes that a session is on; from here on files come and go.
func (m *sentinel) begin(dir string) error {
	m.Phase, m.Files = opening, nil
	return errors.Join(m.save(dir), syncDir(dir))
}

// opened notes that Badger has made its files: from here on a directory
// without them is not a new store.
func (m *sentinel) opened(dir string) error {
	if m.Initialised {
		return nil
	}
	m.Initialised = true
	return errors.Join(m.save(dir), syncDir(dir))
}

// write notes that the session is about to write. After a power loss the note
// may be gone, which only makes the next check less strict.
func (m *sentinel) write(dir string) error {
	if m.Phase == writing {
		return nil
	}
	m.Phase = writing
	return m.save(dir)
}

// ending notes that Badger is about to close. It must be on the disk before a
// .mem file goes; a session that wrote nothing has none to miss.
func (m *sentinel) ending(dir string) error {
	if m.Phase != writing {
		return nil
	}
	m.Phase = closing
	return errors.Join(m.save(dir), syncDir(dir))
}

// end notes what a closed store holds.
func (m *sentinel) end(dir string, interactions uint64) error {
	files, err := list(dir)
	if err != nil {
		return err
	}
	m.Phase, m.Interactions, m.Files = closed, interactions, files.badgers()
	return m.save(dir)
}

// save replaces the file in one step, so that it is never half written.
func (m *sentinel) save(dir string) (err error) {
	raw, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode %s: %w", sentinelFile, err)
	}
	f, err := os.OpenFile(filepath.Join(dir, sentinelFile+".new"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write memory store: %w", err)
	}
	_, err = f.Write(append(raw, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", sentinelFile, err)
	}
	if err := os.Rename(f.Name(), filepath.Join(dir, sentinelFile)); err != nil {
		return fmt.Errorf("write %s: %w", sentinelFile, err)
	}
	return nil
}

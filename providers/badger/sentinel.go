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

	"github.com/pexctl/pex/engine/regular"
)

// format is the version of the directory's layout.
const format = 1

// phase is how far the last lease came.
type phase string

const (
	opening phase = "opening" // Badger's files may or may not be as before
	writing phase = "writing" // there is a .mem file, with what was written
	closing phase = "closing" // the .mem files are being turned into tables
	closed  phase = "closed"  // all is in the files listed
)

func (p phase) known() bool { return p == opening || p == writing || p == closing || p == closed }

// sentinel is what pex-store.json holds: a witness beside Badger's files of
// what they were. Badger takes a directory that lost its MANIFEST for an empty
// store and deletes the rest, and one that lost a .mem file for a shorter one;
// this file is how those are told from a new store.
type sentinel struct {
	Format      int    `json:"format"`
	ID          string `json:"id"`
	Initialised bool   `json:"initialised"` // Badger has opened it once
	Phase       phase  `json:"phase"`
	Writes      uint64 `json:"writes"`          // at the last close; there may be more, never fewer
	Files       []mark `json:"files,omitempty"` // of a closed store, sorted by name
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
		if !e.Type().IsRegular() && ofStore(e.Name()) {
			return nil, &CorruptError{Dir: dir, What: e.Name() + " is not a regular file"}
		}
		out = append(out, e.Name())
	}
	return out, nil
}

// ofStore says whether a store opens a file of this name. Badger ends the whole
// process over some that it cannot map.
func ofStore(name string) bool {
	return holdsData(name) || slices.Contains([]string{"LOCK", "DISCARD", lockFile, sentinelFile, witnessFile, sentinelFile + ".new"}, name)
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

// empty says that there is no store: no file but those that waiting leaves.
func (f inventory) empty() bool {
	return !f.has(sentinelFile) && len(f.badgers()) == 0
}

// badgers are the files that hold Badger's data.
func (f inventory) badgers() []string {
	return slices.DeleteFunc(slices.Clone(f), func(name string) bool { return !holdsData(name) })
}

// inspect reads the sentinel and holds the directory against it.
func (s *Store) inspect(files inventory) (sentinel, error) {
	raw, err := regular.ReadFile(filepath.Join(s.dir, sentinelFile))
	if errors.Is(err, fs.ErrNotExist) {
		if found := files.badgers(); len(found) > 0 {
			return sentinel{}, s.damaged(fmt.Sprintf("%s is missing beside %s", sentinelFile, found[0]), nil)
		}
		return s.fresh(files)
	}
	if err != nil {
		return sentinel{}, fmt.Errorf("read memory store: %w", err)
	}
	var found sentinel
	if err := json.Unmarshal(raw, &found); err != nil {
		return found, s.damaged(sentinelFile+" cannot be read", err)
	}
	if found.Format > format {
		return found, &NewerError{Dir: s.dir, Format: found.Format}
	}
	if found.Format < 1 || found.ID == "" || !found.Phase.known() {
		return found, s.damaged(sentinelFile+" is not that of a store", nil)
	}
	return found, s.complete(found, files)
}

// complete says whether the files that must be there are, and are as they were.
func (s *Store) complete(found sentinel, files inventory) error {
	if !found.Initialised {
		return nil
	}
	if !files.has("MANIFEST") {
		return s.damaged("MANIFEST is missing", nil)
	}
	if found.Phase == writing && files.count(".mem") == 0 {
		return s.damaged("the .mem file of a session that did not end is missing", nil)
	}
	for _, was := range found.Files {
		if found.Phase != closed && (!immutable(was.Name) || !files.has(was.Name)) {
			continue // a lease that did not end may have changed or deleted it
		}
		if wrong, err := was.differs(s.dir); err != nil {
			return fmt.Errorf("read memory store: %w", err)
		} else if wrong != "" && (found.Phase == closed || !emptied(s.dir, was.Name)) {
			return s.damaged(wrong, nil)
		}
	}
	return nil
}

// fresh begins a new store, in a directory that only its owner may enter if
// nothing else lives there.
func (s *Store) fresh(files inventory) (sentinel, error) {
	if !slices.ContainsFunc(files, func(name string) bool { return !slices.Contains(waiting, name) }) {
		if err := os.Chmod(s.dir, 0o700); err != nil {
			return sentinel{}, fmt.Errorf("make memory store: %w", err)
		}
	}
	return sentinel{Format: format, ID: rand.Text()}, nil
}

// begin notes that a lease is on; from here on files come and go, but what is
// immutable and there stays as it is.
func (m *sentinel) begin(dir string, files inventory) error {
	m.Phase = opening
	m.Files = slices.DeleteFunc(m.Files, func(f mark) bool { return !immutable(f.Name) || !files.has(f.Name) })
	return errors.Join(m.save(dir), regular.SyncDir(dir))
}

// opened notes that Badger has made its files: from here on a directory
// without them is not a new store.
func (m *sentinel) opened(dir string) error {
	if m.Initialised {
		return nil
	}
	m.Initialised = true
	return errors.Join(m.save(dir), regular.SyncDir(dir))
}

// write notes that the lease is about to write. After a power loss the note
// may be gone, which only makes the next check less strict.
func (m *sentinel) write(dir string) error {
	if m.Phase == writing {
		return nil
	}
	m.Phase = writing
	return m.save(dir)
}

// ending notes that Badger is about to close. It must be on the disk before a
// .mem file goes; a lease that wrote nothing has none to miss.
func (m *sentinel) ending(dir string) error {
	if m.Phase != writing {
		return nil
	}
	m.Phase = closing
	return errors.Join(m.save(dir), regular.SyncDir(dir))
}

// end notes what a closed store holds.
func (m *sentinel) end(dir string, writes uint64) error {
	files, err := list(dir)
	if err != nil {
		return err
	}
	known := m.Files
	m.Phase, m.Writes, m.Files = closed, writes, nil
	for _, name := range files.badgers() {
		if i := slices.IndexFunc(known, func(f mark) bool { return f.Name == name }); i >= 0 {
			m.Files = append(m.Files, known[i])
			continue
		}
		f, err := marked(dir, name)
		if err != nil {
			return fmt.Errorf("note what the memory store holds: %w", err)
		}
		m.Files = append(m.Files, f)
	}
	return m.save(dir)
}

// save replaces the file in one step, so that it is never half written.
func (m *sentinel) save(dir string) (err error) {
	raw, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode %s: %w", sentinelFile, err)
	}
	f, err := regular.OpenFile(filepath.Join(dir, sentinelFile+".new"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write memory store: %w", err)
	}
	_, err = f.Write(append(raw, '\n'))
	if err = errors.Join(err, regular.Sync(f), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", sentinelFile, err)
	}
	if err := os.Rename(f.Name(), filepath.Join(dir, sentinelFile)); err != nil {
		return fmt.Errorf("write %s: %w", sentinelFile, err)
	}
	return nil
}

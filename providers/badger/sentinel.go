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

// phase is how far the last lease got.
type phase string

const (
	opening phase = "opening" // Badger's files may have changed
	writing phase = "writing" // there is a .mem file with writes
	closing phase = "closing" // the .mem files are being converted to tables
	closed  phase = "closed"  // all data is in the listed files
)

func (p phase) known() bool { return p == opening || p == writing || p == closing || p == closed }

// sentinel is the content of pex-store.json, which describes Badger's files. Badger
// treats a directory without MANIFEST as an empty store and deletes the rest, and
// silently loses data if a .mem file is missing; the sentinel distinguishes these from a
// new store.
type sentinel struct {
	Format      int         `json:"format"`
	ID          string      `json:"id"`
	Initialised bool        `json:"initialised"` // Badger has opened it before
	Phase       phase       `json:"phase"`
	Writes      uint64      `json:"writes"`          // at the last close; a lower bound
	Files       []fileStamp `json:"files,omitempty"` // of a closed store, sorted by name
}

// inventory is the sorted list of files in a directory.
type inventory []string

func list(dir string) (inventory, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list memory store: %w", err)
	}
	var out inventory
	for _, e := range entries {
		if !e.Type().IsRegular() && isStoreFile(e.Name()) {
			return nil, &CorruptError{Dir: dir, What: e.Name() + " is not a regular file"}
		}
		out = append(out, e.Name())
	}
	return out, nil
}

// isStoreFile reports whether the store opens a file with this name. Badger crashes the
// process on some that it cannot map.
func isStoreFile(name string) bool {
	return isDataFile(name) || slices.Contains([]string{"LOCK", "DISCARD", lockFile, sentinelFile, witnessFile, sentinelFile + ".new", inboxFile, inboxLock}, name)
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

// isEmpty reports whether there is no store, except files of waiting processes.
func (f inventory) isEmpty() bool {
	return !f.has(sentinelFile) && !f.has(inboxFile) && !f.has(inboxLock) && len(f.dataFiles()) == 0
}

// dataFiles returns the files with Badger's data.
func (f inventory) dataFiles() []string {
	return slices.DeleteFunc(slices.Clone(f), func(name string) bool { return !isDataFile(name) })
}

// inspect reads the sentinel and compares it with the directory.
func (s *Store) inspect(files inventory) (sentinel, error) {
	raw, err := regular.ReadFile(filepath.Join(s.dir, sentinelFile))
	if errors.Is(err, fs.ErrNotExist) {
		if found := files.dataFiles(); len(found) > 0 {
			return sentinel{}, s.damaged(fmt.Sprintf("%s is missing but %s exists", sentinelFile, found[0]), nil)
		}
		return s.newSentinel(files)
	}
	if err != nil {
		return sentinel{}, fmt.Errorf("read memory store: %w", err)
	}
	var found sentinel
	if err := json.Unmarshal(raw, &found); err != nil {
		return found, s.damaged(sentinelFile+" is not valid JSON", err)
	}
	if found.Format > format {
		return found, &NewerError{Dir: s.dir, Format: found.Format}
	}
	if found.Format < 1 || found.ID == "" || !found.Phase.known() {
		return found, s.damaged(sentinelFile+" is not valid", nil)
	}
	return found, s.checkFiles(found, files)
}

// checkFiles checks that the required files exist and are unchanged.
func (s *Store) checkFiles(found sentinel, files inventory) error {
	if !found.Initialised {
		return nil
	}
	if !files.has("MANIFEST") {
		return s.damaged("MANIFEST is missing", nil)
	}
	if found.Phase == writing && files.count(".mem") == 0 {
		return s.damaged("the .mem file of an interrupted session is missing", nil)
	}
	for _, stamp := range found.Files {
		if found.Phase != closed && (!immutable(stamp.Name) || !files.has(stamp.Name)) {
			continue // an interrupted lease may have changed or deleted it
		}
		if difference, err := stamp.difference(s.dir); err != nil {
			return fmt.Errorf("read memory store: %w", err)
		} else if difference != "" && (found.Phase == closed || !isEmpty(s.dir, stamp.Name)) {
			return s.damaged(difference, nil)
		}
	}
	return nil
}

// newSentinel starts a new store. If the directory is otherwise empty, only its owner may
// access it.
func (s *Store) newSentinel(files inventory) (sentinel, error) {
	own := append([]string{inboxFile, inboxLock}, waitFiles...)
	if !slices.ContainsFunc(files, func(name string) bool { return !slices.Contains(own, name) }) {
		if err := os.Chmod(s.dir, 0o700); err != nil {
			return sentinel{}, fmt.Errorf("create memory store: %w", err)
		}
	}
	return sentinel{Format: format, ID: rand.Text()}, nil
}

// markOpening records that a lease has started; from now on only the listed immutable
// files are known to be unchanged.
func (m *sentinel) markOpening(dir string, files inventory) error {
	m.Phase = opening
	m.Files = slices.DeleteFunc(m.Files, func(f fileStamp) bool { return !immutable(f.Name) || !files.has(f.Name) })
	return errors.Join(m.save(dir), regular.SyncDir(dir))
}

// markOpened records that Badger has created its files; from now on a directory without
// them is damaged.
func (m *sentinel) markOpened(dir string) error {
	if m.Initialised {
		return nil
	}
	m.Initialised = true
	return errors.Join(m.save(dir), regular.SyncDir(dir))
}

// markWriting records that the lease is about to write. After a power loss this may be
// missing, which only makes the next check less strict.
func (m *sentinel) markWriting(dir string) error {
	if m.Phase == writing {
		return nil
	}
	m.Phase = writing
	return m.save(dir)
}

// markClosing records that Badger is about to close. It must be durable before a .mem
// file is removed; a lease that wrote nothing has none.
func (m *sentinel) markClosing(dir string) error {
	if m.Phase != writing {
		return nil
	}
	m.Phase = closing
	return errors.Join(m.save(dir), regular.SyncDir(dir))
}

// markClosed records the files of the closed store.
func (m *sentinel) markClosed(dir string, writes uint64) error {
	files, err := list(dir)
	if err != nil {
		return err
	}
	known := m.Files
	m.Phase, m.Writes, m.Files = closed, writes, nil
	for _, name := range files.dataFiles() {
		if i := slices.IndexFunc(known, func(f fileStamp) bool { return f.Name == name }); i >= 0 {
			m.Files = append(m.Files, known[i])
			continue
		}
		f, err := stampFile(dir, name)
		if err != nil {
			return fmt.Errorf("record the files of the memory store: %w", err)
		}
		m.Files = append(m.Files, f)
	}
	return m.save(dir)
}

// save replaces the file atomically.
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

package batch

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/regular"
	"github.com/pexctl/pex/eval/report"
)

// The files of an evaluation.
const (
	manifestFile = "manifest.json"
	rowsFile     = "rows.jsonl"
	trialsFile   = "trials.jsonl"
	programsDir  = "programs"
)

// store holds the files of an evaluation, locked by this process.
type store struct {
	dir   string
	rows  *journal.Log
	pool  *journal.Pool
	index *rowIndex
}

// openStore opens the files of earlier sessions, or creates new ones.
func openStore(p *Plan) (*store, error) {
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the evaluation: %w", err)
	}
	s := &store{dir: p.Dir, index: newRowIndex(p)}
	pool, err := journal.OpenPool(filepath.Join(p.Dir, trialsFile), journal.PoolOptions{
		Done: s.index.closed, Locked: func() error { return s.load(p) },
	})
	s.index.runs = nil // needed only while the pool is opened
	if err != nil {
		if s.rows != nil {
			_ = s.rows.Close()
		}
		if errors.Is(err, journal.ErrCorrupt) && s.rows != nil {
			err = fmt.Errorf("%w; finished trials are safe in %s: move %s away, and interrupted trials start over", err, rowsFile, trialsFile)
		}
		return nil, fmt.Errorf("open the evaluation: %w", err)
	}
	s.pool = pool
	return s, nil
}

// load runs under the lock. It writes or compares the manifest and reads the rows.
func (s *store) load(p *Plan) (err error) {
	if err := s.manifest(p); err != nil {
		return err
	}
	for _, v := range p.Variants {
		if err := s.program(v); err != nil {
			return err
		}
	}
	s.rows, err = journal.OpenLog(filepath.Join(p.Dir, rowsFile), s.index.add)
	return withRecovery(p.Dir, err)
}

// withRecovery adds recovery instructions to an error about damaged rows. The rows of trials can be rebuilt from their
// journals, but rows graded by Regrade have none.
func withRecovery(dir string, err error) error {
	if !errors.Is(err, journal.ErrCorrupt) {
		return err
	}
	path := filepath.Join(dir, rowsFile)
	if _, missing := os.Stat(filepath.Join(dir, trialsFile)); missing != nil {
		return fmt.Errorf("%w; the lines before it are intact: remove the evaluation and score its original again", err)
	}
	return fmt.Errorf("%w; the lines before it are intact, and %s has the results of all trials: move %s away, and --resume rebuilds the rows without running agents (only judges run again)",
		err, trialsFile, path)
}

// ErrOther is returned if the evaluation to resume has another suite, dataset or spec.
var ErrOther = errors.New("has other inputs")

// manifest writes or compares the manifest.
func (s *store) manifest(p *Plan) error {
	was, err := ReadManifest(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		b, err := json.MarshalIndent(p.Manifest, "", "  ")
		if err != nil {
			return fmt.Errorf("write the manifest: %w", err)
		}
		return s.write(manifestFile, sealed(b))
	}
	if err != nil {
		return err
	}
	if other := differences(was, p.Manifest); len(other) > 0 && !p.Force {
		return fmt.Errorf("evaluation %s %w: %s changed", was.ID, ErrOther, strings.Join(other, ", "))
	}
	return nil
}

// program stores a variant's program by its digest, to which the journals of its trials
// refer.
func (s *store) program(v Variant) error {
	if len(v.Program.Source) == 0 {
		return nil
	}
	name := programFile(v.Program.Digest)
	if _, err := os.Stat(filepath.Join(s.dir, name)); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Join(s.dir, programsDir), 0o700); err != nil {
		return err
	}
	return s.write(name, v.Program.Source)
}

func programFile(digest string) string {
	return filepath.Join(programsDir, strings.TrimPrefix(digest, "sha256:")+".json")
}

// write replaces a file atomically.
func (s *store) write(name string, b []byte) error {
	path := filepath.Join(s.dir, name)
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = regular.Sync(f)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil {
		err = regular.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// close makes everything durable and returns the first error.
func (s *store) close() error { return errors.Join(s.rows.Close(), s.pool.Close()) }

// ReadManifest reads the manifest of the evaluation in dir. The error wraps
// fs.ErrNotExist if there is none.
func ReadManifest(dir string) (m report.Manifest, err error) {
	path := filepath.Join(dir, manifestFile)
	b, err := regular.ReadFile(path)
	if err != nil {
		return m, err
	}
	err = checkSeal(b)
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// differences returns what differs between two manifests.
func differences(a, b report.Manifest) (out []string) {
	add := func(same bool, what string) {
		if !same {
			out = append(out, what)
		}
	}
	add(a.ID == b.ID, "its id")
	add(a.Digest == b.Digest, "the suite")
	add(a.DatasetHash == b.DatasetHash, "the dataset")
	add(a.Filter == b.Filter, "the filter")
	add(a.Repeat == b.Repeat, "the number of repeats")
	same := len(a.Variants) == len(b.Variants)
	for i := 0; same && i < len(a.Variants); i++ {
		same = a.Variants[i].Name == b.Variants[i].Name && a.Variants[i].Spec.Digest == b.Variants[i].Spec.Digest
	}
	add(same, "the specs")
	return out
}

// Records returns the journal of a trial's run (Row.Run.ID) of the evaluation in dir.
func Records(dir, run string) ([]journal.Record, error) {
	return journal.ReadPool(filepath.Join(dir, trialsFile), run)
}

// ProgramSource returns the resolved spec with a digest, as run by the evaluation in dir.
// The start records of its trials omit it.
func ProgramSource(dir, digest string) (json.RawMessage, error) {
	return regular.ReadFile(filepath.Join(dir, programFile(digest)))
}

// Remove deletes the evaluation in dir. It returns a *journal.InUseError if it is in
// progress.
func Remove(dir string) error { return journal.RemovePool(filepath.Join(dir, trialsFile)) }

// Holder reports whether the evaluation in dir is in progress, and in which process; pid
// is 0 if unknown.
func Holder(dir string) (pid int, yes bool) {
	return journal.PoolHolder(filepath.Join(dir, trialsFile))
}

// The manifest's last member is a checksum.
const (
	sealMark = ",\n  \"sha256\": \""
	sealEnd  = "\"\n}\n"
	sealSize = len(sealMark) + 2*sha256.Size + len(sealEnd)
)

// sealed adds the checksum to an indented JSON object.
func sealed(object []byte) []byte {
	return seal(bytes.TrimSuffix(object, []byte("\n}")))
}

func seal(body []byte) []byte {
	sum := sha256.Sum256(body)
	out := append(bytes.Clone(body), sealMark...)
	return append(hex.AppendEncode(out, sum[:]), sealEnd...)
}

// checkSeal verifies a manifest. Those of earlier versions have no checksum.
func checkSeal(b []byte) error {
	if !bytes.Contains(b, []byte(sealMark)) {
		return nil
	}
	if len(b) < sealSize || !bytes.Equal(seal(b[:len(b)-sealSize]), b) {
		return fmt.Errorf("%w: checksum mismatch", journal.ErrCorrupt)
	}
	return nil
}

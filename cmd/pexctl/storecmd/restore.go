package storecmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/archive"
	"github.com/pexctl/pex/engine/artifact"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/providers/badger"
)

func storeRestoreCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "restore", Usage: "Restore a backup into an empty home", ArgsUsage: "FILE | -",
		Description: ui.Help("Verifies the whole file first, then restores all of it or nothing. The home must have no runs, artifacts, evaluations or memory.",
			"pexctl store restore pex-backup.tar", "pexctl store restore pex-backup.tar --home /tmp/look"),
		Flags:  []cli.Flag{ui.OutputFlag(), project.HomeFlag()},
		Action: env.Action(withFlags(storeRestore)),
	}
}

func storeRestore(c *call) error {
	name, err := backupFile(c)
	if err != nil {
		return err
	}
	dir, err := project.HomeHere(c.Call)
	if err != nil {
		return err
	}
	if err := checkEmpty(dir); err != nil {
		return err
	}
	in := c.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return failure.Usagef("%w", err)
		}
		defer f.Close()
		in = f
	}
	stop := untilSignal(c)
	defer stop()
	r := restore{c: c, home: dir, evals: map[string]bool{}}
	if err := r.all(in); err != nil {
		return interrupted(c, fmt.Errorf("nothing was restored: %w", err))
	}
	if c.JSON {
		return ui.PrintJSON(c.Call, r.report)
	}
	fmt.Fprintf(c.Stderr, "restored %s into %s\n", r.report.text(), ui.Safe(c.Stderr, dir))
	return nil
}

// checkEmpty rejects a home that contains something.
func checkEmpty(home string) error {
	for _, part := range []string{backupRuns, artifact.Folder, backupEvals, backupMemory} {
		dir := filepath.Join(home, part)
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return failure.Infra(err)
		}
		if len(entries) > 0 {
			return failure.Usagef("%s is not empty; move it away, or use another --home", dir)
		}
	}
	if file := filepath.Join(home, backupTrust); fspath.Exists(file) {
		return failure.Usagef("%s already exists; move it away, or use another --home", file)
	}
	return nil
}

// restore is the state of restoring a home from a backup.
type restore struct {
	c       *call
	home    string
	staging string // a home within the home, until everything is verified
	runs    *journal.Home
	head    []byte // of the run whose journal is next
	headOf  string
	evals   map[string]bool
	report  backupReport
}

func (r *restore) all(in io.Reader) (err error) {
	if err := os.MkdirAll(r.home, 0o700); err != nil {
		return err
	}
	if r.staging, err = os.MkdirTemp(r.home, ".restoring-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.staging)) }()
	if r.runs, err = journal.OpenHome(r.staging, journal.Sync); err != nil {
		return err
	}
	if _, err := archive.Read(in, r.unpack); err != nil {
		return err
	}
	return r.move()
}

// unpack unpacks one file of the backup.
func (r *restore) unpack(f archive.File, in io.Reader) error {
	if err := r.c.Context.Err(); err != nil {
		return err
	}
	if f.Name == backupMemory {
		r.report.Memory = true
		return badger.Open(filepath.Join(r.staging, backupMemory), badger.Options{}).Restore(r.c.Context, in)
	}
	parts := strings.Split(f.Name, "/")
	if len(parts) == 2 && parts[0] == artifact.Folder {
		return r.unpackArtifact(f, in)
	}
	if len(parts) != 3 || parts[0] != backupRuns {
		return r.unpackOther(f, in)
	}
	b, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	switch run := parts[1]; parts[2] {
	case backupHead:
		r.head, r.headOf = b, run
		return nil
	case backupJournal:
		s := journal.Snapshot{Run: run, Journal: b, Changed: f.Time}
		if r.headOf == run {
			s.Head = r.head
		}
		r.report.Runs++
		return r.runs.Adopt(s)
	}
	return fmt.Errorf("%w: %q is not part of a run", archive.ErrDamaged, f.Name)
}

// move moves what was verified to its place. It does not touch a folder that is
// no longer empty, and then moves everything back.
func (r *restore) move() error {
	var back []func() error
	for _, part := range []string{backupMemory, artifact.Folder, backupEvals, backupTrust, backupRuns} {
		from, to := filepath.Join(r.staging, part), filepath.Join(r.home, part)
		if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		err := os.Remove(to) // it is empty, or not removed
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = os.Rename(from, to)
		}
		if err != nil {
			for _, undo := range back {
				err = errors.Join(err, undo())
			}
			return err
		}
		back = append(back, func() error { return os.Rename(to, from) })
	}
	return syncFolder(r.home)
}

// syncFolder makes the names in a folder durable, on systems that can sync
// folders.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && filepath.Separator == '/' {
		return err
	}
	return nil
}

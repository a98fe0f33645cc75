package storecmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/archive"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/version"
)

// The names of a backup's files. A run's head precedes its journal, for reading
// in one pass.
const (
	backupMemory  = "memory"
	backupRuns    = "runs"
	backupHead    = "run.json"
	backupJournal = "journal.jsonl"
)

func storeBackupCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "backup", Usage: "Back up runs, artifacts, evaluations, trust and memory to one file", ArgsUsage: "FILE | -",
		Description: ui.Help("Runs may continue during a backup; it contains their records up to that moment. The file is written atomically. Damaged runs and evaluations are reported and skipped (exit code 3). A memory that memory.path places elsewhere is not included.",
			"pexctl store backup pex-backup.tar",
			"pexctl store backup - | ssh backup 'cat > pex-backup.tar'",
		),
		Flags:  []cli.Flag{ui.OutputFlag(), project.HomeFlag()},
		Action: env.Action(withFlags(storeBackup)),
	}
}

// backupReport describes the content of a backup, or of what was restored.
type backupReport struct {
	File  string `json:"file,omitempty"`
	Runs  int    `json:"runs"`
	Evals int    `json:"evals"`
	// Artifacts is the number of uploaded files.
	Artifacts int      `json:"artifacts,omitempty"`
	Trusted   int      `json:"trusted"` // digests of files from elsewhere
	Memory    bool     `json:"memory"`
	Bytes     int64    `json:"bytes,omitempty"`
	Damaged   []string `json:"damaged,omitempty"` // omitted runs and evaluations
}

func (r *backupReport) text() string {
	what := contentText(r.Runs, r.Evals, r.Artifacts, r.Memory)
	if r.Trusted > 0 {
		what += ", with " + ui.Count(r.Trusted, "trusted digest")
	}
	return what
}

func storeBackup(c *call) error {
	name, err := backupFile(c)
	if err != nil {
		return err
	}
	home, err := openHomed(c)
	if err != nil {
		return err
	}
	stop := untilSignal(c)
	defer stop()
	b := backup{c: c, home: home, report: backupReport{File: name}}
	if name == "-" {
		if _, is := ui.Terminal(c.Stdout); is || c.JSON {
			return failure.Usagef("store backup - writes the archive to stdout; redirect it and do not use -o json")
		}
		err = b.write(ui.Verbatim(c.Stdout))
	} else if err = b.toFile(name); err == nil && c.JSON {
		err = ui.PrintJSON(c.Call, b.report)
	}
	if err != nil {
		return interrupted(c, err)
	}
	if !c.JSON {
		fmt.Fprintf(c.Stderr, "backed up %s, %s\n", b.report.text(), ui.Bytes(b.report.Bytes))
	}
	if len(b.report.Damaged) > 0 {
		return ui.Exit(ui.ExitInfra, fmt.Errorf("damaged and skipped: %s (for details: %s)", strings.Join(b.report.Damaged, ", "), project.Command(c.Call, "store", "check")))
	}
	return nil
}

func backupFile(c *call) (string, error) {
	if c.Arg(0) == "" {
		return "", failure.WithHintf(failure.Usagef("no file given"), "use pexctl %s FILE, or - for stdin or stdout", c.Name)
	}
	return c.Arg(0), c.AtMost(1)
}

// backup is the state of creating a backup.
type backup struct {
	c      *call
	home   *storeHome
	report backupReport
}

// toFile writes the archive to a temporary file and renames it when it is
// complete.
func (b *backup) toFile(name string) error {
	if err := fspath.WriteFile(name, 0o600, b.write); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(name))
}

// write writes the runs first: a run that ends in the meantime adds to the memory
// last, and adding that again later has no effect.
func (b *backup) write(w io.Writer) error {
	counted := &countWriter{w: w}
	a := archive.NewWriter(counted, time.Now(), "pexctl "+version.String())
	ids, err := b.home.list()
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := b.c.Context.Err(); err != nil {
			return err
		}
		if err := b.addRun(a, id); err != nil {
			return err
		}
	}
	if err := errors.Join(b.addArtifacts(a), b.addEvals(a), b.addTrust(a), b.addMemory(a)); err != nil {
		return err
	}
	if err := a.Close(); err != nil {
		return err
	}
	b.report.Bytes = counted.n
	return nil
}

func (b *backup) addRun(a *archive.Writer, id string) error {
	s, err := b.home.runs.Snapshot(id)
	switch {
	case errors.Is(err, fs.ErrNotExist): // removed in the meantime
		return nil
	case errors.Is(err, journal.ErrCorrupt):
		b.report.Damaged = append(b.report.Damaged, id)
		fmt.Fprintln(b.c.Stderr, "pexctl: skipped:", err)
		return nil
	case err != nil:
		return err
	}
	if s.Head != nil {
		err = a.Add(path.Join(backupRuns, id, backupHead), s.Changed, int64(len(s.Head)), bytes.NewReader(s.Head))
	}
	if err == nil {
		err = a.Add(path.Join(backupRuns, id, backupJournal), s.Changed, int64(len(s.Journal)), bytes.NewReader(s.Journal))
	}
	b.report.Runs++
	return err
}

// addMemory writes the memory to a temporary file first: other users of the
// memory wait while it is read, and its size must be known in advance.
func (b *backup) addMemory(a *archive.Writer) error {
	tmp, err := os.CreateTemp("", "pexctl-memory-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) //nolint:errcheck // a temporary file
	defer tmp.Close()
	memory := project.OpenMemory(b.c.Call, b.home.memoryDir())
	err = errors.Join(memory.Backup(b.c.Context, tmp), memory.Close())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	size, err := tmp.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = tmp.Seek(0, io.SeekStart)
	}
	if err != nil {
		return err
	}
	b.report.Memory = true
	return a.Add(backupMemory, time.Now(), size, tmp)
}

// countWriter counts the bytes written to it.
type countWriter struct {
	w io.Writer
	n int64
}

func (w *countWriter) Write(b []byte) (int, error) {
	n, err := w.w.Write(b)
	w.n += int64(n)
	return n, err
}

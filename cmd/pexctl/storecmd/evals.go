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

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/archive"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/regular"
	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/internal/app/homedir"
	"github.com/pexctl/pex/internal/app/trust"
)

// The names in a backup of everything except runs and the memory.
const (
	backupEvals = "evals"
	backupTrust = homedir.TrustFile
)

// contentText describes the content of a home.
func contentText(runs, evals, artifacts int, memory bool) string {
	all := []string{ui.Count(runs, "run")}
	if evals > 0 {
		all = append(all, ui.Count(evals, "evaluation"))
	}
	if artifacts > 0 {
		all = append(all, ui.Count(artifacts, "artifact"))
	}
	if memory {
		all = append(all, "the memory")
	}
	if n := len(all) - 1; n > 0 {
		return strings.Join(all[:n], ", ") + " and " + all[n]
	}
	return all[0]
}

// evals returns the folders of the home's evaluations.
func (h *storeHome) evals() ([]string, error) {
	entries, err := os.ReadDir(project.EvalsDir(h.dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, e := range entries {
		dir := filepath.Join(project.EvalsDir(h.dir), e.Name())
		if e.IsDir() && batch.Exists(dir) {
			out = append(out, dir)
		}
	}
	return out, err
}

// checkEvals verifies the evaluations, and the list of trusted files.
func (r *checkReport) checkEvals(h *storeHome) error {
	dirs, err := h.evals()
	if err != nil {
		return err
	}
	r.Evals = len(dirs)
	for _, dir := range dirs {
		for _, err := range batch.Check(dir) {
			f := finding{File: dir, What: strings.TrimPrefix(err.Error(), dir+string(filepath.Separator)), Fix: "nothing is damaged"}
			if f.Damage = !errors.Is(err, journal.ErrNewer); f.Damage {
				f.Fix = "restore a backup, or pexctl eval rm " + filepath.Base(dir)
			}
			r.Findings = append(r.Findings, f)
		}
	}
	if _, err := trust.Open(h.dir); err != nil {
		r.Findings = append(r.Findings, finding{
			File: filepath.Join(h.dir, homedir.TrustFile), What: err.Error(),
			Fix: "remove it; until then nothing is trusted", Damage: true,
		})
	}
	return nil
}

// addEvals adds the evaluations; of a running one, what was written so far.
func (b *backup) addEvals(a *archive.Writer) error {
	dirs, err := b.home.evals()
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if err := b.c.Context.Err(); err != nil {
			return err
		}
		if found := batch.Check(dir); len(found) > 0 {
			b.report.Damaged = append(b.report.Damaged, backupEvals+"/"+filepath.Base(dir))
			fmt.Fprintln(b.c.Stderr, "pexctl: skipped:", errors.Join(found...))
			continue
		}
		if err := addEval(a, dir); err != nil {
			return err
		}
		b.report.Evals++
	}
	return nil
}

func addEval(a *archive.Writer, dir string) error {
	files, err := batch.Files(dir)
	if err != nil {
		return err
	}
	for _, name := range files {
		f, err := regular.Open(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		info, err := f.Stat()
		if err == nil {
			err = a.Add(path.Join(backupEvals, filepath.Base(dir), name), info.ModTime(), info.Size(), f)
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// addTrust adds the list of trusted files, if it can be read.
func (b *backup) addTrust(a *archive.Writer) error {
	k, err := trust.Open(b.home.dir)
	if err != nil || len(k.Trusted) == 0 {
		return nil // store check reports a damaged file, which trusts nothing
	}
	file := filepath.Join(b.home.dir, homedir.TrustFile)
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	raw, err := regular.ReadFile(file)
	if err != nil {
		return err
	}
	b.report.Trusted = len(k.Trusted)
	return a.Add(backupTrust, info.ModTime(), int64(len(raw)), bytes.NewReader(raw))
}

// unpackOther unpacks a file of an evaluation, or the list of trusted files.
func (r *restore) unpackOther(f archive.File, in io.Reader) error {
	parts := strings.Split(f.Name, "/")
	if f.Name != backupTrust && (parts[0] != backupEvals || len(parts) < 3) {
		return fmt.Errorf("%w: %q is not part of a backup made by pexctl", archive.ErrDamaged, f.Name)
	}
	to := filepath.Join(r.staging, filepath.FromSlash(f.Name))
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	out, err := regular.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = regular.Sync(out)
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	if f.Name != backupTrust {
		r.evals[parts[1]] = true
		r.report.Evals = len(r.evals)
		return os.Chtimes(to, f.Time, f.Time)
	}
	k, err := trust.Open(r.staging)
	if err != nil {
		return fmt.Errorf("%w: %w", archive.ErrDamaged, err)
	}
	r.report.Trusted = len(k.Trusted)
	return nil
}

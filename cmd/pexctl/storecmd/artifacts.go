package storecmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/pexctl/pex/engine/archive"
	"github.com/pexctl/pex/engine/artifact"
	"github.com/pexctl/pex/engine/regular"
	"github.com/pexctl/pex/engine/runs"
)

// sweepArtifacts removes the artifacts that no run uses.
func (r *gcReport) sweepArtifacts(h *storeHome) error {
	if h.runs == nil {
		return nil
	}
	without := r.Removed
	if !r.DryRun {
		without = nil // a run may have one of these ids again
	}
	removed, freed, err := runs.SweepArtifacts(h.runs, h.dir, without, r.DryRun)
	r.Artifacts += removed
	r.Freed += freed
	return err
}

// checkArtifacts verifies the artifacts.
func (r *checkReport) checkArtifacts(c *call, h *storeHome) error {
	all, err := artifact.List(h.dir)
	if err != nil {
		return err
	}
	r.Artifacts = len(all)
	for _, a := range all {
		if err := c.Context.Err(); err != nil {
			return err
		}
		if err := artifact.Verify(h.dir, a.SHA256); err != nil {
			r.Findings = append(r.Findings, finding{
				File: artifact.Path(h.dir, a.SHA256), What: err.Error(), Fix: "restore a backup, or delete the file and upload it again", Damage: true,
			})
		}
	}
	return nil
}

// addArtifacts adds the artifacts. Those of a run precede it in the store, but runs that
// started after the runs were added are not in the backup.
func (b *backup) addArtifacts(a *archive.Writer) error {
	all, err := artifact.List(b.home.dir)
	if err != nil {
		return err
	}
	for _, info := range all {
		if err := b.c.Context.Err(); err != nil {
			return err
		}
		if err := artifact.Verify(b.home.dir, info.SHA256); err != nil {
			if errors.Is(err, fs.ErrNotExist) { // removed in the meantime
				continue
			}
			b.report.Damaged = append(b.report.Damaged, artifact.Folder+"/"+info.SHA256)
			fmt.Fprintf(b.c.Stderr, "pexctl: skipped: artifact %s: %v\n", info.SHA256, err)
			continue
		}
		if err := addArtifact(a, b.home.dir, info); err != nil {
			return err
		}
		b.report.Artifacts++
	}
	return nil
}

func addArtifact(a *archive.Writer, home string, info artifact.Info) error {
	f, err := regular.Open(artifact.Path(home, info.SHA256))
	if err != nil {
		return err
	}
	st, err := f.Stat()
	if err == nil {
		err = a.Add(path.Join(artifact.Folder, info.SHA256), st.ModTime(), info.Size, f)
	}
	return errors.Join(err, f.Close())
}

// unpackArtifact unpacks an artifact of a backup.
func (r *restore) unpackArtifact(f archive.File, in io.Reader) error {
	info, _, err := artifact.Open(r.staging, 0).Put(in)
	if err != nil {
		return err
	}
	if name := strings.TrimPrefix(f.Name, artifact.Folder+"/"); name != info.SHA256 {
		return fmt.Errorf("%w: the content of %q has the SHA-256 %s", archive.ErrDamaged, f.Name, info.SHA256)
	}
	r.report.Artifacts++
	return os.Chtimes(artifact.Path(r.staging, info.SHA256), f.Time, f.Time)
}

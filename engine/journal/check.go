package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/journal/commitlog"
)

// Remedy is what can be done about a finding.
type Remedy string

// The remedies.
const (
	NoRemedy    Remedy = ""        // nothing needs to be done
	ByRepair    Remedy = "repair"  // Home.Repair keeps the records before the damage
	ByRestore   Remedy = "restore" // no record is left: restore a backup, or Home.Remove
	BySweep     Remedy = "sweep"   // Home.Sweep
	ByUpgrade   Remedy = "upgrade" // a later version of pexctl can read it
	ByOperator  Remedy = "look"    // check the file system and its permissions
	ByInspector Remedy = "unknown" // an unknown file
	ByDeletion  Remedy = "delete"  // delete it after comparing the runs with a backup
)

// Finding is a problem in a home.
type Finding struct {
	Run    string // "" = not of a run
	File   string
	Line   int // line of the journal where the damage starts; 0 = none
	Byte   int // offset of that line
	What   string
	Remedy Remedy
	Damage bool // records are lost or unreadable; otherwise the finding is harmless
}

// Check verifies all files of a run: the journal by itself and against the head, and that
// there are no unknown files. It changes nothing and takes no lock, so the run may be in
// progress. The error wraps fs.ErrNotExist if there is no such run.
func (h *Home) Check(run string) ([]Finding, error) {
	if err := checkID(run); err != nil {
		return nil, err
	}
	if !exists(h.path(run)) && !exists(h.Folder(run)) {
		if _, _, err := h.index.head(run); err != nil {
			return nil, missing(run, err)
		}
	}
	return h.inspect(run), nil
}

// CheckAll checks all runs and other files among them, in order of their names, then the
// runs whose files are gone. It stops when yield returns false.
func (h *Home) CheckAll(yield func(Finding) bool) error {
	entries, err := os.ReadDir(h.runs)
	if err != nil {
		return fmt.Errorf("check runs: %w", err)
	}
	gone := slices.DeleteFunc(slices.Collect(maps.Keys(h.index.marks())), func(run string) bool {
		return checkID(run) != nil || exists(h.path(run)) || exists(h.Folder(run))
	})
	slices.Sort(gone)
	for _, e := range entries {
		if !each(h.inspectEntry(e), yield) {
			return nil
		}
	}
	for _, run := range gone {
		if !each(h.inspect(run), yield) {
			return nil
		}
	}
	return nil
}

func each(found []Finding, yield func(Finding) bool) bool {
	return !slices.ContainsFunc(found, func(f Finding) bool { return !yield(f) })
}

// inspectEntry checks an entry of the folder of the runs.
func (h *Home) inspectEntry(e fs.DirEntry) []Finding {
	name := e.Name()
	run, isJournal := strings.CutSuffix(name, suffix)
	if e.IsDir() {
		run = name
	}
	isRun := (e.IsDir() || isJournal) && checkID(run) == nil
	switch {
	case isRun && e.IsDir() && exists(h.path(run)):
		return nil // inspected with its journal
	case isRun:
		return h.inspect(run)
	case strings.HasPrefix(name, removedPrefix):
		return []Finding{{File: filepath.Join(h.runs, name), What: "a removal was cut short", Remedy: BySweep}}
	case name == logName:
		return h.damagedLogs()
	case name == indexName, strings.HasSuffix(name, suffix+newSuffix), strings.HasSuffix(name, suffix+lockSuffix), name == indexName+newSuffix:
		return nil
	}
	return []Finding{{File: filepath.Join(h.runs, name), What: "this is no run", Remedy: ByInspector}}
}

// damagedLogs reports the commit logs that could not be applied completely.
func (h *Home) damagedLogs() []Finding {
	dir := filepath.Join(h.runs, logName)
	damaged, err := commitlog.Damaged(dir)
	if err != nil {
		return []Finding{finding("", dir, err)}
	}
	var out []Finding
	for _, d := range damaged {
		what := "the commit log of a process that ended without closing it is incomplete: " + d.What + "; the last records of these runs may be lost: " + strings.Join(d.Names, ", ")
		out = append(out, Finding{File: d.Folder, What: what, Remedy: ByDeletion, Damage: true})
	}
	return out
}

func (h *Home) inspect(run string) []Finding {
	e := h.examine(run)
	var out []Finding
	if e.journalErr != nil && !errors.Is(e.journalErr, fs.ErrNotExist) { // a run that has not started is not damaged
		out = append(out, e.journalFinding(run))
	}
	if e.err != nil && !errors.Is(e.err, fs.ErrNotExist) {
		f := finding(run, e.file, e.err)
		switch {
		case errors.Is(e.err, ErrNewer):
			f.Remedy = ByUpgrade
		case errors.Is(e.err, ErrCorrupt) && len(e.contents.Records) > 0:
			f.Remedy = ByRepair // the next session rewrites it too when it ends
		}
		out = append(out, f)
	}
	return append(out, h.unknownFiles(run)...)
}

func (e *evidence) journalFinding(run string) Finding {
	f := finding(run, e.journal, e.journalErr)
	f.Damage = true
	switch {
	case errors.Is(e.journalErr, ErrNewer):
		f.Remedy, f.Damage = ByUpgrade, false
	case errors.Is(e.journalErr, ErrCorrupt) && len(e.contents.Records) > 0:
		f.Remedy = ByRepair
	case errors.Is(e.journalErr, ErrCorrupt):
		f.Remedy = ByRestore
	}
	if !e.missing && errors.Is(e.journalErr, ErrCorrupt) {
		f.Line, f.Byte = len(e.contents.Records)+1, e.contents.Good
	}
	return f
}

func finding(run, path string, err error) Finding {
	return Finding{Run: run, File: path, What: strings.TrimPrefix(err.Error(), path+": "), Remedy: ByOperator}
}

// unknownFiles reports files in a run's folder that do not belong to it. It skips files
// saved by a repair and unfinished files of a killed session.
func (h *Home) unknownFiles(run string) []Finding {
	entries, err := os.ReadDir(h.Folder(run))
	if err != nil {
		return nil // examine reports it
	}
	known := []string{oldJournal, oldHead, oldLock, oldJournal + newSuffix, oldHead + newSuffix, cancelName, cancelName + newSuffix, LogFile}
	var out []Finding
	for _, e := range entries {
		name := e.Name()
		if e.Type().IsRegular() && (slices.Contains(known, name) || strings.HasPrefix(name, savedPrefix)) {
			continue
		}
		out = append(out, Finding{Run: run, File: filepath.Join(h.Folder(run), name), What: "this file is none of the run's", Remedy: ByInspector})
	}
	return out
}

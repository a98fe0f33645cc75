package host

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/lockfile"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/eval/textdiff"
	"github.com/pexctl/pex/internal/app/fspath"
)

// Pins has the entries of pex.lock for one program.
type Pins struct {
	Settings
	Key     string                     // of its spec in pex.lock
	sources map[string]json.RawMessage // entries under tools, by name
	Lock    *lockfile.Lock
	broken  error // why pex.lock cannot be read
}

// Pins returns a function that reads pex.lock on its first call.
func (s Settings) Pins(p *engine.Program) func() *Pins {
	return sync.OnceValue(func() *Pins {
		out := &Pins{Settings: s}
		if s.Spec == "" || s.IgnorePins {
			return out
		}
		if out.Key = LockKey(s.Root, s.Spec); out.Key != "" {
			out.sources = lockfile.Sources(p.Source)
			out.Lock, out.broken = ReadLock(s.Root)
		}
		return out
	})
}

// ReadLock reads the lock file of a project. The error names the file.
func ReadLock(root string) (*lockfile.Lock, error) {
	lock, err := lockfile.Read(root)
	if err != nil {
		err = fmt.Errorf("%s: %w", fspath.Shown(filepath.Join(root, lockfile.FileName)), err)
	}
	return lock, err
}

// LockKey returns the key of a spec in the lock file, including sub-agents outside of the project, or "" if there is
// no relative path from the root.
func LockKey(root, spec string) string {
	rel, err := filepath.Rel(root, specfs.FileOf(spec))
	if err != nil {
		return ""
	}
	return filepath.ToSlash(rel)
}

// pin makes a tool check its server against pex.lock. Offline, the pinned tools replace the server.
func (p *Pins) pin(t *tool.Binding, set tool.Toolset) {
	name := t.Spec.Name
	e := p.Lock.Entry(p.Key, name)
	why := p.broken
	if e != nil {
		if d := e.SourceDrift(p.sources[name]); d != nil {
			why = p.driftError(d)
		}
	}
	switch {
	case p.Offline && e == nil && why == nil:
		t.Tool = e.Placeholder(set, fmt.Errorf("no server is asked here, and nothing is pinned of it: pexctl tools lock %s asks it once, and %s keeps what it says", p.spell(), lockfile.FileName))
	case p.Offline:
		t.Tool = e.Placeholder(set, why)
	case why != nil:
		t.Tool = lockfile.FailList(set, why)
	case e != nil:
		t.Pinned = func(l *tool.Listing) error { return p.compare(e, l, set.Rules()) }
	}
}

// compare returns an error that wraps tool.ErrChanged and lists all differences.
func (p *Pins) compare(e *lockfile.Entry, l *tool.Listing, rules tool.Rules) error {
	now, err := lockfile.NewEntry(e.Spec, e.Name, p.sources[e.Name], l, rules)
	if err != nil {
		return fmt.Errorf("%w: %w", tool.ErrChanged, err)
	}
	if d := e.Compare(now); d != nil {
		return p.driftError(d)
	}
	return nil
}

// driftError returns a drift as an error with its diff and how to accept it.
func (p *Pins) driftError(d *lockfile.Drift) error {
	return fmt.Errorf("%w\n%spexctl tools lock %s --update pins the current tools, after you have reviewed them", d, DriftDiff(d, maxDriftLines, "pexctl tools lock "+p.spell()+" --check shows all"), p.spell())
}

// spell returns the spec's path, quoted for a shell.
func (p *Pins) spell() string { return fspath.Quote(fspath.Shown(p.Spec)) }

// maxDriftLines is the maximum number of lines of a diff in an error.
const maxDriftLines = 80

// DriftDiff formats the changes as unified diffs, with at most most lines (0 = all).
func DriftDiff(d *lockfile.Drift, most int, rest string) string {
	var lines []string
	for _, c := range d.Changes {
		lines = append(lines, fmt.Sprintf("--- %s, pinned", c.What), fmt.Sprintf("+++ %s, %s", c.What, c.How))
		lines = append(lines, strings.Split(strings.TrimSuffix(textdiff.Compare(c.Before, c.After).Unified(0), "\n"), "\n")...)
	}
	if most > 0 && len(lines) > most {
		more := len(lines) - most
		lines = append(lines[:most], fmt.Sprintf("... and %d more lines; %s", more, rest))
	}
	for i, line := range lines {
		if most > 0 && len(line) > maxDriftLine {
			lines[i] = strings.ToValidUTF8(line[:maxDriftLine], "") + "…"
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// maxDriftLine is the maximum length of a line in bytes.
const maxDriftLine = 2000

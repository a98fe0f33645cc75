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

// Pins is what pex.lock says of the servers of one program.
type Pins struct {
	Settings
	Key     string                     // of its spec in the lock
	sources map[string]json.RawMessage // the entries of tools, by name
	Lock    *lockfile.Lock
	broken  error // why the lock cannot be read
}

// Pins is the lock, read when the first server may be in it.
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

// ReadLock reads the lock of a project; an error says which file it is.
func ReadLock(root string) (*lockfile.Lock, error) {
	lock, err := lockfile.Read(root)
	if err != nil {
		err = fmt.Errorf("%s: %w", fspath.Shown(filepath.Join(root, lockfile.FileName)), err)
	}
	return lock, err
}

// LockKey is how a lock names the file of a spec, that of an agent outside of the
// project too; "" = there is no way to it from the root.
func LockKey(root, spec string) string {
	rel, err := filepath.Rel(root, specfs.FileOf(spec))
	if err != nil {
		return ""
	}
	return filepath.ToSlash(rel)
}

// hold holds a server to what is pinned of it. Offline the pinned tools stand in
// for it.
func (p *Pins) hold(t *tool.Binding, set tool.Toolset) {
	name := t.Spec.Name
	e := p.Lock.Entry(p.Key, name)
	why := p.broken
	if e != nil {
		if d := e.SourceDrift(p.sources[name]); d != nil {
			why = p.told(d)
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

// compare is an error that wraps tool.ErrChanged, with all that differs.
func (p *Pins) compare(e *lockfile.Entry, l *tool.Listing, rules tool.Rules) error {
	now, err := lockfile.NewEntry(e.Spec, e.Name, p.sources[e.Name], l, rules)
	if err != nil {
		return fmt.Errorf("%w: %w", tool.ErrChanged, err)
	}
	if d := e.Compare(now); d != nil {
		return p.told(d)
	}
	return nil
}

// told is a drift with its diff and the way out.
func (p *Pins) told(d *lockfile.Drift) error {
	return fmt.Errorf("%w\n%spexctl tools lock %s --update pins what there is now, once you have read it", d, DriftDiff(d, mostDrift, "pexctl tools lock "+p.spell()+" --check shows all"), p.spell())
}

// spell is the spec as a shell takes it.
func (p *Pins) spell() string { return fspath.Quote(fspath.Shown(p.Spec)) }

// mostDrift bounds the lines of a diff in an error.
const mostDrift = 80

// DriftDiff is the changes as unified diffs; most = 0 is all of them.
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
		if most > 0 && len(line) > longestDrift {
			lines[i] = strings.ToValidUTF8(line[:longestDrift], "") + "…"
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// longestDrift bounds one of the lines, in bytes.
const longestDrift = 2000

package dsl

import (
	"path"
	"path/filepath"
	"slices"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/lockfile"
)

// server is the type of tools that stand for those of a server.
const server = "mcp"

// pins is what is pinned of the servers of specs; nothing if the caller does not want it
// looked at. A lock that cannot be read is reported once.
func (l *loader) pins() *lockfile.Lock {
	if l.options.Pins == nil || l.Files == nil {
		return nil
	}
	if l.lock == nil {
		l.lock = &pins{}
		var err error
		if l.lock.read, err = l.options.Pins(l.Files.Root); err != nil {
			l.Report.Error(diag.Unreadable, syntax.Position{Source: &syntax.Source{Name: l.Files.Shown(filepath.Join(l.Files.Root, lockfile.FileName))}}, "%v", err)
		}
	}
	return l.lock.read
}

// pins is a lock that was read; nil = there is none.
type pins struct{ read *lockfile.Lock }

// pinOf is what is pinned of a server of the spec in a file; nil = nothing.
func (l *loader) pinOf(file, entry string) *lockfile.Entry {
	rel, err := filepath.Rel(l.Files.Root, file)
	if err != nil {
		return nil
	}
	return l.pins().Entry(filepath.ToSlash(rel), entry)
}

// checkPins warns about servers of which nothing is pinned, in a project that
// pins others.
func (c *compiler) checkPins() {
	if c.doc.Tools == nil || c.loader.options.Pins == nil || c.tree.Source == nil || c.tree.Source.Kind == syntax.Resolved {
		return
	}
	for _, e := range c.doc.Tools.Entries {
		if syntax.TextOf(e.Value, "type") != server || c.loader.pins() == nil || c.loader.pinOf(c.file(), e.Key) != nil {
			continue
		}
		c.Report.Warn(diag.Unpinned, e.Position, "MCP server %q is not pinned; a run uses whatever tools it offers at that time", e.Key).
			Hint = "pexctl tools lock " + c.loader.Files.Shown(c.locked()) + " pins its current tools"
	}
}

// file is the spec that is compiled; agents within a file have its pins.
func (c *compiler) file() string {
	file, _ := specfs.SplitAgent(c.loader.chain[len(c.loader.chain)-1])
	return file
}

// locked is the spec whose project pins the servers of this one: a foreign one has
// no lock of its own here.
func (c *compiler) locked() string {
	if c.tree.Source.Foreign {
		file, _ := specfs.SplitAgent(c.loader.chain[0])
		return file
	}
	return c.file()
}

// membersOf are the names that match of a pinned server's tools; known says that
// it is one.
func (c *compiler) membersOf(name string) (members []string, known bool) {
	if syntax.TextOf(c.doc.Tools.Get(name), "type") != server || len(c.loader.chain) == 0 {
		return nil, false
	}
	e := c.loader.pinOf(c.file(), name)
	return e.Members(), e != nil
}

// serverTools says whether a pattern with __ in it may mean tools of a server:
// one of those that are pinned, or of a server of which nothing is. names are
// those that it might have meant.
func (c *compiler) serverTools(pattern string) (fine bool, names []string) {
	prefixes := language.ToolEntries(pattern)
	for _, entry := range c.doc.Tools.Keys() {
		matches := func(prefix string) bool { ok, _ := path.Match(prefix, entry); return ok }
		if !slices.ContainsFunc(prefixes, matches) || syntax.TextOf(c.doc.Tools.Get(entry), "type") != server {
			continue
		}
		members, known := c.membersOf(entry)
		if !known || slices.ContainsFunc(members, func(n string) bool { ok, _ := path.Match(pattern, n); return ok }) {
			return true, nil
		}
		names = append(names, members...)
	}
	return false, names
}

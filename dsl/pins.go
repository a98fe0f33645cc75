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

// server is the type of tools that represent a server's tools.
const server = "mcp"

// pins returns the lock file of the project, or nil if the caller does not want
// it checked. A lock file that cannot be read is reported once.
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

// pins is a lock file that was read; nil if there is none.
type pins struct{ read *lockfile.Lock }

// pinOf returns the pins of a server of the spec in a file, or nil.
func (l *loader) pinOf(file, entry string) *lockfile.Entry {
	rel, err := filepath.Rel(l.Files.Root, file)
	if err != nil {
		return nil
	}
	return l.pins().Entry(filepath.ToSlash(rel), entry)
}

// checkPins warns about servers that are not pinned, in a project that pins
// others.
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

// file returns the file of the spec; agents within a file use its pins.
func (c *compiler) file() string {
	file, _ := specfs.SplitAgent(c.loader.chain[len(c.loader.chain)-1])
	return file
}

// locked returns the spec whose project pins the servers of this one. A foreign
// spec has no lock file of its own here.
func (c *compiler) locked() string {
	if c.tree.Source.Foreign {
		file, _ := specfs.SplitAgent(c.loader.chain[0])
		return file
	}
	return c.file()
}

// membersOf returns the names of a pinned server's tools. known reports whether
// it is pinned.
func (c *compiler) membersOf(name string) (members []string, known bool) {
	if syntax.TextOf(c.doc.Tools.Get(name), "type") != server || len(c.loader.chain) == 0 {
		return nil, false
	}
	e := c.loader.pinOf(c.file(), name)
	return e.Members(), e != nil
}

// serverTools reports whether a pattern with __ may match tools of a server: a
// pinned one, or any tool of a server that is not pinned. names are the likely
// intended names.
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

package lockfile

import (
	"cmp"
	"slices"

	"github.com/pexctl/pex/engine/tool"
)

// FileName is the name of the lock file in a project's root.
const FileName = "pex.lock"

// Lock holds the tools of servers that the specs of a project may use. The zero Lock and
// a nil *Lock pin nothing.
type Lock struct {
	entries []Entry // sorted by spec, then name
}

// Entry is the pinned tools of one server of a spec.
type Entry struct {
	Spec   string // path of the spec's file relative to the project's root, with slashes
	Name   string // of the entry under tools
	Origin Origin
	Server string            // name and version of the server
	Tools  []tool.Definition // visible form, in the server's order
}

// Origin is the server of an entry as written in the spec: references are kept, so that
// it contains no values of the environment.
type Origin struct {
	Command []string `json:"command,omitempty"`
	Cwd     string   `json:"cwd,omitempty"`
	URL     string   `json:"url,omitempty"`
}

// Entry returns the pinned tools of a server, or nil.
func (l *Lock) Entry(spec, name string) *Entry {
	if l == nil {
		return nil
	}
	if i, ok := l.find(spec, name); ok {
		return &l.entries[i]
	}
	return nil
}

// Entries returns all entries, sorted by spec and name.
func (l *Lock) Entries() []Entry {
	if l == nil {
		return nil
	}
	return slices.Clone(l.entries)
}

// Put adds or replaces an entry.
func (l *Lock) Put(e Entry) {
	i, ok := l.find(e.Spec, e.Name)
	if ok {
		l.entries[i] = e
		return
	}
	l.entries = slices.Insert(l.entries, i, e)
}

// Prune removes a spec's entries for which want returns false, and returns their names.
func (l *Lock) Prune(spec string, want func(name string) bool) (gone []string) {
	l.entries = slices.DeleteFunc(l.entries, func(e Entry) bool {
		if e.Spec != spec || want(e.Name) {
			return false
		}
		gone = append(gone, e.Name)
		return true
	})
	return gone
}

func (l *Lock) find(spec, name string) (int, bool) {
	return slices.BinarySearchFunc(l.entries, Entry{Spec: spec, Name: name}, compareEntries)
}

func compareEntries(a, b Entry) int {
	return cmp.Or(cmp.Compare(a.Spec, b.Spec), cmp.Compare(a.Name, b.Name))
}

// Tool returns a tool of the server by name.
func (e *Entry) Tool(name string) (tool.Definition, bool) {
	i := slices.IndexFunc(e.Tools, func(d tool.Definition) bool { return d.Name == name })
	if i < 0 {
		return tool.Definition{}, false
	}
	return e.Tools[i], true
}

// Members returns the run's names of the tools.
func (e *Entry) Members() []string {
	if e == nil {
		return nil
	}
	out := make([]string, len(e.Tools))
	for i, d := range e.Tools {
		out[i] = tool.MemberName(e.Name, d.Name)
	}
	return out
}

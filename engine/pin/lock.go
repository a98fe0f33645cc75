package pin

import (
	"cmp"
	"slices"

	"github.com/pexctl/pex/engine/tool"
)

// FileName is the name of the lock in a project's root.
const FileName = "pex.lock"

// Lock is the tools of servers that the specs of a project may use. The zero
// Lock, and a nil one, pin nothing.
type Lock struct {
	entries []Entry // by spec, then by name
}

// Entry is the tools of one server of a spec.
type Entry struct {
	Spec   string // path of the spec's file from the project's root, with slashes
	Name   string // of the entry under tools
	Origin Origin
	Server string            // who answered: name and version, as told
	Tools  []tool.Definition // visible, in the server's order
}

// Origin is which server a spec asks, as written there: references stay
// references, so that no value of the environment is in it.
type Origin struct {
	Command []string `json:"command,omitempty"`
	Cwd     string   `json:"cwd,omitempty"`
	URL     string   `json:"url,omitempty"`
}

// Entry finds what is pinned of a server; nil = nothing is.
func (l *Lock) Entry(spec, name string) *Entry {
	if l == nil {
		return nil
	}
	if i, ok := l.find(spec, name); ok {
		return &l.entries[i]
	}
	return nil
}

// Entries lists all that is pinned, by spec and name.
func (l *Lock) Entries() []Entry {
	if l == nil {
		return nil
	}
	return slices.Clone(l.entries)
}

// Put pins an entry, in place of the one of its name.
func (l *Lock) Put(e Entry) {
	i, ok := l.find(e.Spec, e.Name)
	if ok {
		l.entries[i] = e
		return
	}
	l.entries = slices.Insert(l.entries, i, e)
}

// Keep leaves of a spec's entries only those that want says yes to, and lists
// the names of those that went.
func (l *Lock) Keep(spec string, want func(name string) bool) (gone []string) {
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
	return slices.BinarySearchFunc(l.entries, Entry{Spec: spec, Name: name}, before)
}

func before(a, b Entry) int {
	return cmp.Or(cmp.Compare(a.Spec, b.Spec), cmp.Compare(a.Name, b.Name))
}

// Tool finds a tool of the server's by its name.
func (e *Entry) Tool(name string) (tool.Definition, bool) {
	i := slices.IndexFunc(e.Tools, func(d tool.Definition) bool { return d.Name == name })
	if i < 0 {
		return tool.Definition{}, false
	}
	return e.Tools[i], true
}

// Members are the names that a run has for the tools.
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

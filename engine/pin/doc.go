// Package pin keeps the tools of servers as a reviewer saw them: pex.lock, at the
// root of a project, in git beside the specs.
//
//	Read(root) -> Lock          the file, checked: size, form, duplicates, digests
//	Lock.Entry(spec, name)      what is pinned of a server of a spec; nil = nothing
//	Of(spec, name, source, listing, rules) -> Entry    what a server says now
//	Entry.Compare(now) -> *Drift                       wraps tool.ErrChanged
//	Lock.Put, Lock.Keep, Lock.Write                    the file, made anew
//	Entry.Standin(toolset)      a toolset that lists what is pinned and starts nobody
//
// A definition counts as a whole: name, title, description, schemas, hints. The
// order of tools and of a schema's members does not count, any other change does.
// The package must not know who asks servers, or how a difference is drawn.
package pin

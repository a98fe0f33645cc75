// Package lockfile stores the reviewed tools of servers in a lock file: pex.lock in the root
// of a project, committed with the specs.
//
//	Read(root) -> Lock          the validated file: size, format, duplicates, digests
//	Lock.Entry(spec, name)      the pinned tools of a server; nil = none
//	NewEntry(spec, name, source, listing, rules)       the entry for the current tools of a server
//	Entry.Compare(now) -> *Drift                       wraps tool.ErrChanged
//	Lock.Put, Lock.Prune, Lock.Write                    change the file
//	Entry.Placeholder(toolset)      a toolset that lists the pinned tools without a server
//
// A definition is pinned as a whole: name, title, description, schemas, hints. The order
// of tools and of keys in a schema does not count; any other change does. The package
// must not know who lists the tools of servers, or how differences are shown.
package lockfile

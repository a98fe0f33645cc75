// Package sandboxfs restricts file tools to a part of the file system.
//
//	New(settings, root, exclude) --validates paths--> Folder   (opens nothing)
//	Folder.Open --> Tree   (an os.Root; the caller must close it)
//	Tree.File, Tree.Write, Tree.Walk   (check a path, then open it below the root)
//
// A path from a model is rejected unless it stays below the root: no "..", no NUL, no
// link that leads outside, only regular files, nothing that the author excluded. os.Root
// enforces what names cannot show, so replacing a folder by a link between check and use
// has no effect. Hard links are treated as ordinary files: they can be read, since their
// creator had access to the file; a write replaces the name and leaves the other one
// unchanged. Programs, CI and git folders, and files covered by tool.Settings.Protect are
// never written; tool.Settings.Private is never entered.
//
// The package must not know which tool uses it.
package sandboxfs

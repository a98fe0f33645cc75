// Package folder is the part of the file system that a file tool may touch.
//
//	New(settings, root, exclude) --checks the words--> Folder   (opens nothing)
//	Folder.Open --> Tree   (an os.Root; the caller closes it)
//	Tree.File, Tree.Write, Tree.Walk   (a path is checked, then opened below the root)
//
// A path that a model names is refused unless it stays below the root: no
// "..", no NUL, no link that leads out, nothing but regular files, nothing
// that the author excluded. What cannot be checked by name is left to os.Root,
// so a folder that is swapped for a link between check and use changes nothing.
// A hard link is a file like any other: it is read, since whoever made it had
// the file already; a write replaces the name, and the other one keeps what it
// has. Programs, CI and git folders, and what ToolSettings.Protect names, are
// never written; ToolSettings.Private is never entered.
//
// It must not know which tool asks.
package folder

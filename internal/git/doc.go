// Package git reads git repositories without executing anything that a repository names.
//
//	Find(path) --nearest folder with a .git--> Repo
//	Repo.Commit(ref) -> commit id
//	Repo.Output(args) -> stdout of one git command, with explicit --git-dir and --work-tree
//
// git itself recognizes repositories by content: a folder with HEAD, objects and refs,
// which can be committed. Its config may name commands (core.fsmonitor, filters), and its
// refs may differ from the real ones. Therefore git never discovers a repository here:
// only an entry named .git counts, which git refuses to commit, and it must not lead into
// a work tree.
//
// Each command runs in a clean environment without hooks, file system monitor, filters,
// external diffs, pagers, prompts and network access.
//
// The package must not know what the files of a repository are.
package git

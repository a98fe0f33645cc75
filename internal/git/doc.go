// Package git reads git repositories and runs nothing that a repository names.
//
//	Find(path) --nearest folder with a .git--> Repo
//	Repo.Commit(ref) -> commit id
//	Repo.Output(args) -> stdout of one git command, by explicit --git-dir and --work-tree
//
// git itself looks for a repository by content: a folder with HEAD, objects and
// refs is one, and such a folder can be committed. Its config may then name
// commands (core.fsmonitor, filters) and its refs may differ from the real ones.
// So git never discovers a repository here: only an entry named .git makes one,
// which git refuses to commit, and it must not lead into a work tree.
//
// Each command runs in a clean environment without hooks, file system monitor,
// filters, external diffs, pagers, prompts and network access.
//
// The package must not know what the files of a repository are.
package git

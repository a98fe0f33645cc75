// Package storecmd is `pexctl store`: it checks, backs up, restores and cleans up
// a home.
//
//	home --> engine/journal, engine/archive, the memory --> problems, a backup, what was removed
//
// It knows no component by name and no other command.
package storecmd

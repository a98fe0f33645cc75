// Package fspath formats file paths for display (relative to the working directory,
// quoted for a shell, with or without links resolved) and replaces files atomically. It
// knows nothing of specs.
package fspath

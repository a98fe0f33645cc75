// Package fspath names files for people: as seen from the working folder, as a
// shell takes them, with or without their links; and replaces files whole. It
// knows nothing of specs.
package fspath

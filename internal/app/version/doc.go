// Package version is the version of this build: stamped by the Makefile, else as
// Go knows it.
package version

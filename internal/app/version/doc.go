// Package version is the version of this build, set by the Makefile or else by Go.
package version

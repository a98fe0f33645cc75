// Package gitfs reads the files of a commit as a file system. It executes nothing that a
// repository names, and knows nothing of specs.
package gitfs

// Package gitfs reads the files of a commit as if they lay in folders. It runs
// nothing that a repository names, and knows nothing of specs.
package gitfs

// Package servecmd is the command serve, which serves agents over HTTP, and the commands about
// its tokens.
package servecmd

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/term"

	"github.com/pexctl/pex/builtins/tty"
)

// outlet is stdout with a memory: the first error of writing is kept, what
// follows it is dropped, and commands need not look at each write.
type outlet struct {
	w    io.Writer
	err  error
	used bool // something was written
}

// Write never fails.
func (o *outlet) Write(b []byte) (int, error) {
	if o.err == nil {
		o.used = o.used || len(b) > 0
		_, o.err = o.w.Write(b)
	}
	return len(b), nil
}

// failed tells why not everything was written. A reader that had enough
// (head, a pager that was left) is no failure.
func (o *outlet) failed() error {
	if o.err == nil || errors.Is(o.err, syscall.EPIPE) {
		return nil
	}
	return fmt.Errorf("stdout: %w", o.err)
}

// terminal says whether a stream is one.
func terminal(stream any) (*os.File, bool) {
	if o, ok := stream.(*outlet); ok {
		stream = o.w
	}
	f, ok := stream.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// capturedApart reports whether a program reads stdout and stderr, each on its own:
// neither is a terminal, they are not one file, and the caller is not GitHub
// Actions, which merges them in one log. Such a program finds diagnostics on both
// streams (ADR 28).
func capturedApart(stdout, stderr any) bool {
	if o, ok := stdout.(*outlet); ok {
		stdout = o.w
	}
	if os.Getenv("GITHUB_ACTIONS") == "true" {
		return false
	}
	out, isFile := stdout.(*os.File)
	err, isFileToo := stderr.(*os.File)
	if !isFile || !isFileToo {
		return true
	}
	if term.IsTerminal(int(out.Fd())) || term.IsTerminal(int(err.Fd())) {
		return false
	}
	a, aerr := out.Stat()
	b, berr := err.Stat()
	return aerr == nil && berr == nil && !os.SameFile(a, b)
}

// fitFor makes text fit for the stream it goes to: a terminal is shown what
// would drive it, a file or a pipe gets the text as it is.
func fitFor(stream any, s string) string {
	if _, ok := terminal(stream); ok {
		return tty.Safe(s)
	}
	return s
}

package ui

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	"golang.org/x/term"

	"github.com/pexctl/pex/builtins/tty"
)

// Output is stdout or stderr for commands. It escapes control characters, because
// text may come from models, tools and files. Styled, ForPrograms and Verbatim
// return streams that escape less.
//
// An Output records the first write error and drops everything after it, so that
// commands need not check each write.
type Output struct {
	Color ColorMode // of --color

	raw  io.Writer
	ci   bool
	text *tty.Writer

	mu   sync.Mutex
	err  error
	Used bool // something was written
}

// NewOutput returns the Output that writes to w.
func NewOutput(w io.Writer) *Output {
	ci := underCI()
	return &Output{raw: w, ci: ci, text: tty.NewWriter(w, ci)}
}

// underCI reports whether a CI runner reads the output, by the variables that
// runners set.
func underCI() bool {
	for _, name := range []string{"CI", "GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION", "GITLAB_CI", "BUILDKITE", "JENKINS_URL"} {
		if v := os.Getenv(name); v != "" && v != "false" && v != "0" {
			return true
		}
	}
	return false
}

// Write writes text with control characters escaped. It never fails.
func (o *Output) Write(b []byte) (int, error) { return o.writeWith(o.text.Write, b) }

func (o *Output) writeWith(write func([]byte) (int, error), b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.Used = true
	if o.err == nil {
		_, o.err = write(b)
	}
	return len(b), nil
}

// Failed returns the first write error. A reader that exited (head, a pager) is
// not an error.
func (o *Output) Failed() error {
	if err := o.text.Flush(); o.err == nil {
		o.err = err
	}
	if o.err == nil || errors.Is(o.err, syscall.EPIPE) {
		return nil
	}
	return fmt.Errorf("stdout: %w", o.err)
}

// styledOutput is an Output with another write function.
type styledOutput struct {
	*Output
	write func([]byte) (int, error)
}

// Write implements io.Writer.
func (p styledOutput) Write(b []byte) (int, error) { return p.writeWith(p.write, b) }

// outputOf returns the Output behind a stream of a command, or nil.
func outputOf(stream any) *Output {
	switch s := stream.(type) {
	case *Output:
		return s
	case styledOutput:
		return s.Output
	}
	return nil
}

// Styled returns a stream for text with the colors of a Pen. It does not escape
// colors, so text of others needs Safe.
func Styled(stream io.Writer) io.Writer {
	o := outputOf(stream)
	if o == nil || !UsesColor(o) {
		return stream
	}
	return styledOutput{o, o.text.WriteStyled}
}

// ForPrograms returns a stream for JSON: each write is a whole value, or lines of
// them. For a terminal or a CI runner, unsafe characters in texts are
// JSON-escaped, which does not change the values.
func ForPrograms(stream io.Writer) io.Writer {
	o := outputOf(stream)
	if o == nil {
		return stream
	}
	_, shown := Terminal(o)
	if !shown && !o.ci {
		return styledOutput{o, o.text.WriteVerbatim}
	}
	return styledOutput{o, func(b []byte) (int, error) { return o.text.WriteVerbatim(tty.JSON(b, o.ci)) }}
}

// Verbatim returns a stream for programs: the answer of a run, a protocol, a
// backup, workflow commands. Output to a terminal is still escaped.
func Verbatim(stream io.Writer) io.Writer {
	o := outputOf(stream)
	if o == nil {
		return stream
	}
	if _, ok := Terminal(o); ok {
		return o
	}
	return styledOutput{o, o.text.WriteVerbatim}
}

// Terminal returns the file of a stream, and whether it is a terminal.
func Terminal(stream any) (*os.File, bool) {
	if o := outputOf(stream); o != nil {
		stream = o.raw
	}
	f, ok := stream.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// SeparateStreams reports whether a program reads stdout and stderr separately:
// neither is a terminal, they are not the same file, and the caller is not GitHub
// Actions, which merges them in one log. Such a program gets diagnostics on both
// streams (ADR 28).
func SeparateStreams(stdout, stderr any) bool {
	if o := outputOf(stdout); o != nil {
		stdout = o.raw
	}
	if o := outputOf(stderr); o != nil {
		stderr = o.raw
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

// Safe escapes text for a stream that does not escape colors; other streams do so
// themselves.
func Safe(stream any, s string) string {
	if _, ok := Terminal(stream); ok || UsesColor(stream) {
		return tty.Safe(s)
	}
	return s
}

package ui

import (
	"fmt"
	"io"
	"os"

	"github.com/pexctl/pex/internal/app/failure"
)

// FromStdin is the name that means stdin where a file is wanted.
const FromStdin = "-"

// What is read at most of what a caller gives.
const (
	MaxMessages  = 4 << 20 // more than the longest context of a model holds
	MaxArguments = 16 << 20
	MaxForeign   = 8 << 20
)

// ReadGiven reads a file that a caller names, or stdin, of at most so many
// bytes; what is the flag that names it, "" = an argument does.
func ReadGiven(c *Call, what, name string, most int) ([]byte, error) {
	shown := name
	if name == FromStdin {
		shown = "stdin"
	}
	if what != "" {
		shown = what + " " + name
	}
	b, err := readName(c, name, most+1)
	switch {
	case err != nil && name == FromStdin:
		return nil, failure.Infra(fmt.Errorf("%s: %w", shown, err))
	case err != nil && what == "": // it names the file
		return nil, failure.Usagef("%w", err)
	case err != nil:
		return nil, failure.Usagef("%s: %w", what, err)
	case len(b) > most:
		return nil, failure.Usagef("%s is larger than the limit of %d MiB", shown, most>>20)
	}
	return b, nil
}

// readName reads no more than so many bytes: what has no end is not waited for.
func readName(c *Call, name string, most int) ([]byte, error) {
	from := c.Stdin
	if name != FromStdin {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		from = f
	}
	return io.ReadAll(io.LimitReader(from, int64(most)))
}

// OnceFromStdin refuses what would read stdin twice: several flags, or a flag
// and the argument in which - stands for the question.
func OnceFromStdin(c *Call, argument string, flags ...string) error {
	first := ""
	if argument == FromStdin {
		first = "the question"
	}
	for _, flag := range flags {
		switch {
		case c.String(flag) != FromStdin:
		case first != "":
			return failure.Usagef("%s - and --%s -: stdin can be read only once; use a file for one of them", first, flag)
		default:
			first = "--" + flag
		}
	}
	return nil
}

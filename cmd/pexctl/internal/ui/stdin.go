package ui

import (
	"fmt"
	"io"
	"os"

	"github.com/pexctl/pex/internal/app/failure"
)

// FromStdin is the file name that means stdin.
const FromStdin = "-"

// Maximum sizes of input from a user.
const (
	MaxMessages  = 4 << 20 // more than the largest context of a model
	MaxArguments = 16 << 20
	MaxImport    = 8 << 20
)

// ReadInput reads a file that a user names, or stdin, up to most bytes. what is
// the flag that names it, or "" for an argument.
func ReadInput(c *Call, what, name string, most int) ([]byte, error) {
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
	case err != nil && what == "": // err names the file
		return nil, failure.Usagef("%w", err)
	case err != nil:
		return nil, failure.Usagef("%s: %w", what, err)
	case len(b) > most:
		return nil, failure.Usagef("%s is larger than the limit of %d MiB", shown, most>>20)
	}
	return b, nil
}

// readName reads at most most bytes, so endless input ends.
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

// CheckStdin rejects reading stdin twice: by several flags, or by a flag and
// an argument - that is the question.
func CheckStdin(c *Call, argument string, flags ...string) error {
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

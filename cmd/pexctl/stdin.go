package main

import (
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v2"
)

// fromStdin is the name that means stdin where a file is wanted.
const fromStdin = "-"

// What is read at most of what a caller gives.
const (
	mostMessages  = 4 << 20 // more than the longest context of a model holds
	mostArguments = 16 << 20
	mostForeign   = 8 << 20
)

// readGiven reads a file that a caller names, or stdin, of at most so many
// bytes; what is the flag that names it, "" = an argument does.
func readGiven(c *cli.Context, what, name string, most int) ([]byte, error) {
	shown := name
	if name == fromStdin {
		shown = "stdin"
	}
	if what != "" {
		shown = what + " " + name
	}
	b, err := readName(c, name, most+1)
	switch {
	case err != nil && name == fromStdin:
		return nil, infra(fmt.Errorf("%s: %w", shown, err))
	case err != nil && what == "": // it names the file
		return nil, usage("%w", err)
	case err != nil:
		return nil, usage("%s: %w", what, err)
	case len(b) > most:
		return nil, usage("%s: it is larger than %d MiB, the most that is read", shown, most>>20)
	}
	return b, nil
}

// readName reads no more than so many bytes: what has no end is not waited for.
func readName(c *cli.Context, name string, most int) ([]byte, error) {
	from := c.App.Reader
	if name != fromStdin {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		from = f
	}
	return io.ReadAll(io.LimitReader(from, int64(most)))
}

// onceFromStdin refuses what would read stdin twice: several flags, or a flag
// and the argument in which - stands for the question.
func onceFromStdin(c *cli.Context, argument string, flags ...string) error {
	first := ""
	if argument == fromStdin {
		first = "the question"
	}
	for _, flag := range flags {
		switch {
		case c.String(flag) != fromStdin:
		case first != "":
			return usage("%s - and --%s -: stdin can be read once; give one of them a file", first, flag)
		default:
			first = "--" + flag
		}
	}
	return nil
}

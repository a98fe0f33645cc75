package ui

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/internal/app/failure"
)

// YesFlag is --yes, the answer of Confirm.
func YesFlag() cli.Flag {
	return &cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask"}
}

// Confirm asks at the terminal before something is deleted for good; nil = it
// is wanted. Without a terminal only --yes is an answer.
func Confirm(c *Call, what string) error {
	if c.Yes {
		return nil
	}
	_, in := Terminal(c.Stdin)
	_, out := Terminal(c.Stderr)
	if !in || !out {
		return failure.Usagef("pexctl %s deletes for good: without a terminal to ask at, --yes is needed", c.Name)
	}
	fmt.Fprintf(c.Stderr, "%s? [y/N] ", Safe(c.Stderr, what))
	line, err := bufio.NewReader(c.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return failure.Infra(fmt.Errorf("read the answer: %w", err))
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return Exit(ExitNegative, errors.New("nothing was removed"))
}

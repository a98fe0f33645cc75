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

// YesFlag returns --yes, the answer of Confirm.
func YesFlag() cli.Flag {
	return &cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "Skip the confirmation"}
}

// Confirm asks at the terminal before something is permanently deleted, and
// returns nil if confirmed. Without a terminal --yes is required.
func Confirm(c *Call, what string) error {
	if c.Yes {
		return nil
	}
	_, in := Terminal(c.Stdin)
	_, out := Terminal(c.Stderr)
	if !in || !out {
		return failure.Usagef("%s deletes permanently; without a terminal to confirm at, add --yes", c.Name)
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
	return Exit(ExitNegative, errors.New("cancelled; nothing was removed"))
}

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

func yesFlag() cli.Flag {
	return &cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask"}
}

// confirm asks at the terminal before something is deleted for good; nil = it
// is wanted. Without a terminal only --yes is an answer.
func confirm(c *cli.Context, what string) error {
	if c.Bool("yes") {
		return nil
	}
	_, in := terminal(c.App.Reader)
	_, out := terminal(c.App.ErrWriter)
	if !in || !out {
		return usage("pexctl %s deletes for good: without a terminal to ask at, --yes is needed", c.Command.HelpName)
	}
	fmt.Fprintf(c.App.ErrWriter, "%s? [y/N] ", fitFor(c.App.ErrWriter, what))
	line, err := bufio.NewReader(c.App.Reader).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return infra(fmt.Errorf("read the answer: %w", err))
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return &exitError{exitNegative, errors.New("nothing was removed")}
}

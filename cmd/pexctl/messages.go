package main

import (
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
)

// opening is the question of a run, and what was said before it: of --messages, of
// the command line, or of both.
func opening(c *cli.Context) (earlier []engine.Interaction, question string, err error) {
	question = strings.Join(c.Args().Tail(), " ")
	name := c.String("messages")
	if name == "" {
		return nil, question, nil
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, "", usage("--messages: %w", err)
	}
	earlier, last, err := dsl.Messages(b)
	switch {
	case err != nil:
		return nil, "", usage("--messages %s: %w", name, err)
	case question == "":
		return earlier, last, nil
	case last != "":
		return nil, "", usage("--messages %s: its last message is a question that nobody answered; leave it out, or the one on the command line", name)
	}
	return earlier, question, nil
}

package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"
)

// checkQuestion refuses arguments of run that are no question: several words
// without quotes, and a file that was meant as a second spec.
func checkQuestion(c *cli.Context) error {
	words := c.Args().Tail()
	spec := quoted(c.Args().First())
	for _, word := range words {
		if ext := filepath.Ext(word); ext != ".yaml" && ext != ".yml" && len(words) == 1 {
			break
		}
		if info, err := os.Stat(word); err == nil && !info.IsDir() {
			return withHint(usage("%s is a file, and run takes one spec and one question", word),
				"--file %s shows a file to the agent; run each spec on its own: pexctl run %[1]s", quoted(word))
		}
	}
	if len(words) > 1 {
		return withHint(usage("run takes one question, and there are %d arguments after the spec", len(words)),
			"quote the question: pexctl run %s %s", spec, quoted(strings.Join(words, " ")))
	}
	question := c.Args().Get(1)
	if question == fromStdin && c.Bool("detach") {
		return usage("--detach: a run in the background has no stdin to read the question from; write the question on the command line")
	}
	return onceFromStdin(c, question, "params", "messages")
}

// questionOf is the question of the command line; - reads it from stdin.
func questionOf(c *cli.Context) (string, error) {
	question := c.Args().Get(1)
	if question != fromStdin {
		return question, nil
	}
	b, err := readGiven(c, "", fromStdin, mostArguments)
	if err != nil {
		return "", err
	}
	if question = strings.TrimSpace(string(b)); question == "" {
		return "", withHint(usage("stdin has no question"), `write one: echo "Why?" | pexctl run %s -`, quoted(c.Args().First()))
	}
	return question, nil
}

package project

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
)

// CheckQuestion rejects arguments of run that are not one question: several words
// without quotes, or a file probably intended as a second spec.
func CheckQuestion(c *ui.Call) error {
	words := c.Args[min(1, len(c.Args)):]
	spec := fspath.Quote(c.Arg(0))
	for _, word := range words {
		if ext := filepath.Ext(word); ext != ".yaml" && ext != ".yml" && len(words) == 1 {
			break
		}
		if info, err := os.Stat(word); err == nil && !info.IsDir() {
			return failure.WithHintf(failure.Usagef("%s is a file; run takes one spec and one question", word),
				"to give the agent the file, use --file %s; to run it as a spec: pexctl run %[1]s", fspath.Quote(word))
		}
	}
	if len(words) > 1 {
		return failure.WithHintf(failure.Usagef("run takes one question, got %d arguments after the spec", len(words)),
			"quote the question: pexctl run %s %s", spec, fspath.Quote(strings.Join(words, " ")))
	}
	question := c.Arg(1)
	if question == ui.FromStdin && c.Bool("detach") {
		return failure.Usagef("a run in the background (--detach) cannot read the question from stdin; give it on the command line")
	}
	return ui.CheckStdin(c, question, "params", "messages")
}

// QuestionOf returns the question in the arguments; - reads it from stdin.
func QuestionOf(c *ui.Call) (string, error) {
	question := c.Arg(1)
	if question != ui.FromStdin {
		return question, nil
	}
	b, err := ui.ReadInput(c, "", ui.FromStdin, ui.MaxArguments)
	if err != nil {
		return "", err
	}
	if question = strings.TrimSpace(string(b)); question == "" {
		return "", failure.WithHintf(failure.Usagef("no question on stdin"), `pipe one in: echo "Why?" | pexctl run %s -`, fspath.Quote(c.Arg(0)))
	}
	return question, nil
}

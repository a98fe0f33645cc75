package runcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/serverclient"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/internal/app/apiclient"
	"github.com/pexctl/pex/internal/app/failure"
)

// serverRuns are the runs of a server, for one call of a command.
type serverRuns struct {
	*serverclient.Client
	c *ui.Call
}

// openServer returns the runs of the server of --server, or nil without the flag. flags are
// those of the command that apply to runs of a server.
func openServer(c *ui.Call, flags ...string) (*serverRuns, error) {
	client, err := serverclient.Open(c, project.Command(c, "runs", "ls")+" lists all runs", flags...)
	if client == nil {
		return nil, err
	}
	return &serverRuns{client, c}, nil
}

// find returns the run that a word refers to: a run id, or "last".
func (s *serverRuns) find(word string) (string, error) {
	if word == "" {
		return "", failure.WithHintf(failure.Usagef("no run given"), "use pexctl %[1]s RUN, or pexctl %[1]s last for the latest", s.c.Name)
	}
	if word != runs.Latest {
		return s.findPrefix(word)
	}
	page, err := s.List(s.c.Context, apiclient.Filter{}, 1, "")
	if err != nil {
		return "", s.Fail(err)
	}
	if len(page.Runs) == 0 {
		return "", failure.NotFoundf("", "no runs on %s", s.URL())
	}
	return page.Runs[0].Run, nil
}

// findPrefix returns the only run whose id starts with a word, or is it. A word that starts no
// id is returned as it is: the server says that there is no such run.
func (s *serverRuns) findPrefix(word string) (string, error) {
	const enough = 500 // the maximum of a page
	page, err := s.List(s.c.Context, apiclient.Filter{Prefix: word}, enough, "")
	if err != nil {
		return "", s.Fail(err)
	}
	ids := make([]string, len(page.Runs))
	for i, sum := range page.Runs {
		ids[i] = sum.Run
	}
	switch {
	case len(ids) == 0, slices.Contains(ids, word), page.Next != "":
		return word, nil
	case len(ids) == 1:
		return ids[0], nil
	}
	slices.Sort(ids)
	const shown = 5
	if len(ids) > shown {
		return "", failure.Usagef("ambiguous run id %s: it matches %d runs on %s: %s, ...; use a longer prefix", word, len(ids), s.URL(), strings.Join(ids[:shown], ", "))
	}
	return "", failure.Usagef("ambiguous run id %s: it matches %d runs on %s: %s; use a longer prefix", word, len(ids), s.URL(), ui.List(ids))
}

// runArg returns the only argument of a command, a run.
func (s *serverRuns) runArg() (string, error) {
	if err := s.c.AtMost(1); err != nil {
		return "", err
	}
	return s.find(s.c.Arg(0))
}

// command returns a command line for a run of the server.
func (s *serverRuns) command(run string, words ...string) string {
	return project.Command(s.c, append(words, run)...)
}

// printStored prints where a run that has ended is stored.
func (s *serverRuns) printStored(run string) {
	fmt.Fprintf(s.c.Stderr, "Stored on %s. Details: %s\n", s.URL(), s.command(run, "runs", "show"))
}

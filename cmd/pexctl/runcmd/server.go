package runcmd

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/internal/app/apiclient"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/httpclient"
)

// tokenVariable has the token for --server. There is no flag for it: other processes can
// read the arguments of a command.
const tokenVariable = "PEX_SERVER_TOKEN"

func serverFlag() cli.Flag {
	return &cli.StringFlag{Name: "server", Category: ui.GroupStorage, Usage: "Use the server (pexctl serve) at `URL` instead of a home on this machine; " + tokenVariable + " is the token"}
}

// everywhere are the flags that every command accepts with --server.
var everywhere = []string{"server", "output", "quiet", "yes", "color", "env-file", "verbose", "debug", "debug-file"}

// serverRuns are the runs of a server, for one call of a command.
type serverRuns struct {
	*apiclient.Client
	c *ui.Call
}

// openServer returns the server of --server, or nil without the flag. flags are those of
// the command that apply to runs of a server.
func openServer(c *ui.Call, flags ...string) (*serverRuns, error) {
	if c.Server == "" {
		return nil, nil
	}
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		if c.IsSet(name) && !slices.Contains(everywhere, name) && !slices.Contains(flags, name) {
			return nil, failure.Usagef("--%s cannot be combined with --server", name)
		}
	}
	transport, err := httpclient.Pool(httpclient.CertificatesOf(os.Getenv))
	if err != nil {
		return nil, failure.Usagef("%w", err)
	}
	client, err := apiclient.New(apiclient.Settings{URL: c.Server, Token: os.Getenv(tokenVariable), Transport: transport})
	if err != nil {
		return nil, failure.Usagef("--server: %w", err)
	}
	return &serverRuns{client, c}, nil
}

// fail adds hints to an error of the server, and separates the caller's mistakes from
// other failures.
func (s *serverRuns) fail(err error) error {
	if err == nil {
		return nil
	}
	if errors.As(err, new(*apiclient.ConnectionError)) {
		return failure.WithHintf(failure.Infra(err), "check the address, and that the server runs: pexctl serve; runs continue when it starts again")
	}
	e, ok := errors.AsType[*apiclient.Error](err)
	switch {
	case !ok:
		return err
	case e.Code == "":
		return failure.WithHintf(failure.Usagef("%w", e), "check the address given with --server")
	case e.Code == apiclient.NotFound:
		return failure.NotFoundf(project.Command(s.c, "runs", "ls")+" lists all runs", "%w", e)
	case e.Code == apiclient.Unauthorized:
		return failure.WithHintf(failure.Usagef("the server requires a valid token"), "set %s to a token of the server", tokenVariable)
	case e.Status >= 500 && e.RetryAfter != "":
		return failure.WithHintf(failure.Infra(e), "try again in %s s", e.RetryAfter)
	case e.Status >= 500:
		return failure.Infra(e)
	}
	return failure.Usagef("%w", e)
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
		return "", s.fail(err)
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
		return "", s.fail(err)
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

package evalcmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"

	"github.com/pexctl/pex/cmd/pexctl/internal/outputs"
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/serverclient"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/eval/trial"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
)

// serverEvals are the evaluations of a server, for one call of a command.
type serverEvals struct {
	*serverclient.Client
	c *call
}

// openServer returns the evaluations of the server of --server, or nil without the flag.
// flags are those of the command that apply to them.
func openServer(c *call, flags ...string) (*serverEvals, error) {
	client, err := serverclient.Open(c.Call, project.Command(c.Call, "eval", "ls")+" lists evaluations", flags...)
	if client == nil {
		return nil, err
	}
	return &serverEvals{client, c}, nil
}

// list prints the evaluations.
func (s *serverEvals) list() error {
	const perPage = 200
	list, more := []batch.Summary{}, 0
	for cursor := ""; ; {
		page, err := s.Evals(s.c.Context, s.c.suite, perPage, cursor)
		if err != nil {
			return s.Fail(err)
		}
		list = append(list, page.Evals...)
		if n := s.c.limit; n > 0 && len(list) > n {
			list, more = list[:n], 1
			break
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	switch {
	case s.c.JSON:
		return ui.PrintJSON(s.c.Call, list)
	case len(list) == 0:
		fmt.Fprintf(s.c.Stderr, "no evaluations%s on %s\n", prefixed(" of ", s.c.suite), s.URL())
	default:
		printEvaluations(s.c, list, more)
	}
	return nil
}

// show prints the report of an evaluation. The formats with all trials are made by the server.
func (s *serverEvals) show(out *outputs.Outputs) error {
	id := s.c.Arg(0)
	if id == "last" {
		page, err := s.Evals(s.c.Context, "", 1, "")
		if err != nil {
			return s.Fail(err)
		}
		if len(page.Evals) == 0 {
			return failure.NotFoundf("", "no evaluations on %s", s.URL())
		}
		id = page.Evals[0].ID
	}
	r, err := s.Eval(s.c.Context, id)
	if err != nil {
		return s.Fail(err)
	}
	if path := out.Files["html"]; path != "" {
		delete(out.Files, "html")
		err := fspath.WriteFile(path, 0o600, func(w io.Writer) error { return s.EvalHTML(s.c.Context, id, w) })
		if errors.As(err, new(*fs.PathError)) {
			return failure.Infra(fmt.Errorf("--html: %w", err))
		}
		if err != nil {
			return s.Fail(err)
		}
	}
	if err := out.Eval(r, noRows); err != nil {
		return err
	}
	return verdictOf(r)
}

// noRows are the trials of a report that is printed without them.
func noRows() iter.Seq2[*trial.Row, error] { return func(func(*trial.Row, error) bool) {} }

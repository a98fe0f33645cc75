package web

import (
	"context"
	"net/http"

	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/server/access"
)

// maxEvaluations is how many evaluations the page shows.
const maxEvaluations = 200

func (u *UI) listEvaluations(_ context.Context, c *access.Client, _ *http.Request) (*page, error) {
	found, err := c.Evaluations()
	if err != nil {
		return nil, err
	}
	var all []batch.Summary
	for _, m := range found[:min(len(found), maxEvaluations)] {
		all = append(all, c.SummarizeEvaluation(m))
	}
	return &page{Name: "evals", Title: "Evaluations", Data: all}, nil
}

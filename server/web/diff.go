package web

import (
	"context"
	"net/http"

	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/textdiff"
	"github.com/pexctl/pex/server/access"
)

// diffData is the data of the page that compares two runs.
type diffData struct {
	*runs.Comparison
	AnswerA, AnswerB string
}

func (u *UI) diffRuns(ctx context.Context, c *access.Client, r *http.Request) (*page, error) {
	a, err := c.Read(r.PathValue("run"))
	if err != nil {
		return nil, err
	}
	b, err := c.Read(r.PathValue("other"))
	if err != nil {
		return nil, err
	}
	d, err := runs.Compare(ctx, a, b, runs.Formatter{Diff: textdiff.Files, Duration: text.Duration})
	if err != nil {
		return nil, err
	}
	return &page{Name: "diff", Title: "Compare runs", Data: &diffData{d, a.Show(ctx).Outcome(), b.Show(ctx).Outcome()}}, nil
}

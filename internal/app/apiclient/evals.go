package apiclient

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/eval/report"
)

// EvalPage is a page of evaluations, latest first.
type EvalPage struct {
	Evals []batch.Summary `json:"evals"`
	Next  string          `json:"next"` // cursor of the next page; "" = this is the last
}

// Evals returns a page of at most limit evaluations; those of a suite, unless suite is "".
func (c *Client) Evals(ctx context.Context, suite string, limit int, cursor string) (page EvalPage, err error) {
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	for name, value := range map[string]string{"suite": suite, "cursor": cursor} {
		if value != "" {
			query.Set(name, value)
		}
	}
	err = c.get(ctx, "/v1/evals?"+query.Encode(), &page)
	return page, err
}

// Eval returns the report of an evaluation.
func (c *Client) Eval(ctx context.Context, id string) (*report.Report, error) {
	var r struct {
		report.Report
		Cases []report.CaseStats `json:"cases"`
	}
	if err := c.get(ctx, "/v1/evals/"+url.PathEscape(id), &r); err != nil {
		return nil, err
	}
	r.Report.Cases = report.CasesOf(r.Cases...)
	return &r.Report, nil
}

// EvalHTML writes the report of an evaluation as a page.
func (c *Client) EvalHTML(ctx context.Context, id string, to io.Writer) error {
	_, b, err := c.call(ctx, http.MethodGet, "/v1/evals/"+url.PathEscape(id)+"/report.html", nil)
	if err == nil {
		_, err = to.Write(b)
	}
	return err
}

package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/problem"
)

// pageSize is the number of runs on a page.
const pageSize = 50

// row is a run in a list.
type row struct {
	runs.Summary
	Waiting bool // for an answer
}

// rows returns the rows of runs.
func rows(ctx context.Context, c *access.Client, found []runs.Summary) (out []row, err error) {
	open, err := c.Questions(ctx)
	if err != nil {
		return nil, err
	}
	for _, sum := range found {
		waiting := slices.ContainsFunc(open, func(q access.Question) bool { return q.Run == sum.Run })
		out = append(out, row{sum, waiting})
	}
	return out, nil
}

// runList is the data of the list of runs.
type runList struct {
	Runs     []row
	Agents   []string
	Statuses []string
	Filter   url.Values
	Next     string // query of the next page; "" = none
}

func (u *UI) home(ctx context.Context, c *access.Client, r *http.Request) (*page, error) {
	return u.listRuns(ctx, c, r)
}

func (u *UI) listRuns(ctx context.Context, c *access.Client, r *http.Request) (*page, error) {
	q := r.URL.Query()
	list := runList{Statuses: append([]string{"queued"}, runs.Statuses()...), Filter: q}
	for _, a := range c.Agents().All() {
		if c.Can(auth.View, a) {
			list.Agents = append(list.Agents, a.Name)
		}
	}
	after, err := runs.ParsePosition(q.Get("cursor"))
	if err != nil {
		return nil, problem.New(problem.InvalidCursor, "the page has expired; open the list again")
	}
	f := runs.Filter{Limit: pageSize, After: after, Question: q.Get("q"), MemoryID: q.Get("memory_id")}
	found, more, err := c.List(ctx, f, q.Get("agent"), q.Get("status"))
	if err != nil {
		return nil, err
	}
	if list.Runs, err = rows(ctx, c, found); err != nil {
		return nil, err
	}
	if more > 0 && len(found) > 0 {
		next := url.Values{"cursor": {found[len(found)-1].Position().String()}}
		for _, key := range []string{"q", "agent", "status", "memory_id"} {
			if v := q.Get(key); v != "" {
				next.Set(key, v)
			}
		}
		list.Next = next.Encode()
	}
	return &page{Name: "runs", Title: "Runs", Data: list}, nil
}

// chooseDiff redirects to the comparison of the two runs that a form selects.
func (u *UI) chooseDiff(w http.ResponseWriter, r *http.Request) {
	chosen := r.URL.Query()["run"]
	if len(chosen) != 2 {
		problem.Write(w, r, problem.New(problem.InvalidRequest, "select two runs to compare"))
		return
	}
	http.Redirect(w, r, runPath(chosen[0])+"/diff/"+url.PathEscape(chosen[1]), http.StatusSeeOther)
}

func runPath(id string) string { return "/runs/" + url.PathEscape(id) }

package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/pexctl/pex/engine/costbound"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/runview"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/auth"
)

// forkData is the data of the form that forks a run.
type forkData struct {
	ID        string
	Calls     []forkCall
	Allowed   string // overrides that the agent allows
	WorstCase string
	// What the client has chosen.
	At, Set string
	Live    bool
}

// forkCall is a call at which a run can be forked.
type forkCall struct{ Path, Title string }

func (u *UI) showFork(ctx context.Context, c *access.Client, r *http.Request) (*page, error) {
	return u.forkPage(ctx, c, r.PathValue("run"), r.URL.Query())
}

// forkPage returns the form that forks a run, with its content.
func (u *UI) forkPage(ctx context.Context, c *access.Client, id string, typed url.Values) (*page, error) {
	if err := c.CheckRun(auth.Run, id); err != nil {
		return nil, err
	}
	run, view, err := u.outline(ctx, c, id)
	if err != nil {
		return nil, err
	}
	d := forkData{
		ID: id, At: typed.Get("at"), Set: typed.Get("set"), Live: typed.Get("live") != "",
		WorstCase: worstCase(costbound.Bound(run.Program, costbound.Options{}).Limited),
	}
	if a, ok := c.Agents().Get(run.Start.Input.Agent); ok {
		d.Allowed = strings.Join(a.AllowSet, ", ")
	}
	for i := range view.Groups {
		for _, it := range view.Groups[i].Items {
			if it.Kind == runview.ModelItem || it.Kind == runview.ToolItem {
				d.Calls = append(d.Calls, forkCall{it.Path, strings.TrimSpace(it.Role + " " + it.Name)})
			}
		}
	}
	return &page{Name: "fork", Title: "Fork run " + id, Data: d}, nil
}

func (u *UI) fork(ctx context.Context, c *access.Client, r *http.Request) (*page, error) {
	id, form := r.PathValue("run"), r.PostForm
	var set []string
	for line := range strings.Lines(form.Get("set")) {
		if line = strings.TrimSpace(line); line != "" {
			set = append(set, line)
		}
	}
	f := access.Fork{At: form.Get("at"), Live: form.Get("live") != "", Set: set}
	f.Body = jsonvalue.Encode(f)
	fork, _, err := c.Fork(ctx, id, f)
	if err == nil {
		return redirect(runPath(fork)), nil
	}
	what := u.o.Access.Problem(r, err)
	p, pageErr := u.forkPage(ctx, c, id, form)
	if pageErr != nil {
		return nil, err
	}
	p.Alert, p.Status = what.Detail, what.Status()
	return p, nil
}

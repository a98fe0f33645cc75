package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine/costbound"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/runview"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/auth"
)

// forkData is the data of the form that forks a run.
type forkData struct {
	ID             string
	Calls          []forkCall
	Allowed        string // overrides that the agent allows
	WorstCase      string
	MayEdit        bool         // the client may edit prompts
	Prompts        []forkPrompt // of the chosen call
	Others         []forkPrompt
	Check          []string // what the fork would do; nil = not checked
	Fails, Checked bool     // whether it would fail
	Found          []found
	// What the client has chosen.
	At, Set string
	Live    bool
}

// forkCall is a call at which a run can be forked.
type forkCall struct{ Path, Title string }

func (u *UI) showFork(ctx context.Context, c *access.Client, r *http.Request) (*page, error) {
	p, _, err := u.forkPage(ctx, c, r.PathValue("run"), r.URL.Query())
	return p, err
}

// forkPage returns the form that forks a run, with its content.
func (u *UI) forkPage(ctx context.Context, c *access.Client, id string, typed url.Values) (*page, *forkData, error) {
	if err := c.CheckRun(auth.Run, id); err != nil {
		return nil, nil, err
	}
	run, view, err := u.outline(ctx, c, id)
	if err != nil {
		return nil, nil, err
	}
	d := &forkData{
		ID: id, At: typed.Get("at"), Set: typed.Get("set"), Live: typed.Get("live") != "", MayEdit: c.MayEditPrompts(),
		WorstCase: worstCase(costbound.Bound(run.Program, costbound.Options{}).Limited),
	}
	if a, ok := c.Agents().Get(run.Start.Input.Agent); ok {
		d.Allowed = strings.Join(a.AllowSet, ", ")
	}
	var call *runview.Item
	for i := range view.Groups {
		for j := range view.Groups[i].Items {
			it := &view.Groups[i].Items[j]
			if it.Kind == runview.ModelItem || it.Kind == runview.ToolItem {
				d.Calls = append(d.Calls, forkCall{it.Path, strings.TrimSpace(it.Role + " " + it.Name)})
			}
			if it.Path == d.At {
				call = it
			}
		}
	}
	if d.MayEdit {
		d.Prompts, d.Others = forkPrompts(run, call, typed, u.secrets(run))
	}
	return &page{Name: "fork", Title: "Fork run " + id, Data: d}, d, nil
}

// fork forks a run, or says what the fork would do, or shows the prompts of another call.
func (u *UI) fork(ctx context.Context, c *access.Client, r *http.Request) (*page, error) {
	id, form := r.PathValue("run"), r.PostForm
	p, d, err := u.forkPage(ctx, c, id, form)
	if err != nil || form.Get("do") == "show" {
		return p, err
	}
	f := access.Fork{At: d.At, Live: d.Live, Set: linesOf(d.Set)}
	if run, err := c.Read(id); err != nil {
		return nil, err
	} else if f.Prompts = editsIn(form, run.Program); len(f.Prompts) == 0 {
		f.Prompts = nil
	}
	f.Body = jsonvalue.Encode(f)
	if form.Get("do") == "check" {
		would, err := c.RehearseFork(ctx, id, f)
		if err != nil {
			return u.failedFork(r, p, d, err), nil
		}
		d.Checked, d.Check, d.Fails, d.Found = true, would.Lines(), would.Fails != nil, foundIn(would.Diagnostics)
		return p, nil
	}
	fork, _, err := c.Fork(ctx, id, f)
	if err != nil {
		return u.failedFork(r, p, d, err), nil
	}
	return redirect(runPath(fork)), nil
}

// failedFork adds what is wrong to the form.
func (u *UI) failedFork(r *http.Request, p *page, d *forkData, err error) *page {
	what := u.o.Access.Problem(r, err)
	p.Alert, p.Status = what.Detail, what.Status()
	if all, ok := what.Members["diagnostics"].([]diag.Diagnostic); ok {
		d.Found = foundIn(all)
	}
	return p
}

func foundIn(all []diag.Diagnostic) (out []found) {
	for i := range all {
		d := &all[i]
		out = append(out, found{placeOf(d.File, d.Line, d.Column), string(d.Severity), d.Message, d.Hint})
	}
	return out
}

// linesOf returns the lines of a text that are not blank.
func linesOf(s string) (out []string) {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

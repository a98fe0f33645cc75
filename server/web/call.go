package web

import (
	"context"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/pexctl/pex/engine/runview"
	"github.com/pexctl/pex/internal/app/runpage"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/problem"
)

// callData is the data of the page of a call.
type callData struct {
	Run, Path, Name string
	MayFork         bool // the client may fork the run at the call
	Body            template.HTML
}

// callPath returns the path of the page of a call.
func callPath(run, call string) string { return runPath(run) + "/calls/" + escaped(call) }

// escaped escapes the parts of a path.
func escaped(path string) string {
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}

func (u *UI) showCall(ctx context.Context, c *access.Client, r *http.Request) (*page, error) {
	id, path := r.PathValue("run"), r.PathValue("call")
	run, err := c.Read(id)
	if err != nil {
		return nil, err
	}
	it, err := runpage.Call(ctx, run, u.secrets(run), path)
	if err != nil {
		return nil, err
	}
	if it == nil {
		return nil, problem.New(problem.NotFound, "run %s has no call at %q", id, path)
	}
	d := &callData{Run: id, Path: path, Name: runpage.CallName(it)}
	of := access.Owner{Agent: run.Start.Input.Agent, Spec: run.Start.Name}
	d.MayFork = (it.Kind == runview.ModelItem || it.Kind == runview.ToolItem) && c.CanFor(auth.Run, of)
	if d.Body, err = runpage.CallBody(it); err != nil {
		return nil, err
	}
	return &page{Name: "call", Title: d.Name, Data: d}, nil
}

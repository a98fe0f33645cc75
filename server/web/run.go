package web

import (
	"context"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/runview"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/internal/app/runpage"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/problem"
	"github.com/pexctl/pex/server/turn"
)

// runData is the data of the page of a run.
type runData struct {
	ID        string
	Agent     string // "" = the server has none for the run
	Memory    string
	Status    string
	Body      template.HTML
	Questions []question
	Live      bool // its events should be watched
	Ended     bool
	MayRun    bool
	Parent    string // the run that it replays; "" = none
	Draft     string // of a message that could not be sent
}

// question is an open question with its form.
type question struct {
	Run, Agent string
	Subject    string // the question with which the run started
	interrupt.Question
	Digest  string
	About   string
	Rule    string
	Mine    bool
	Actions []string
	From    string // page to return to; "" = that of the run
	// What the client has typed, if its answer was not accepted.
	Reason, Edit, Text string
}

// Can reports whether an answer is possible.
func (q question) Can(do string) bool { return slices.Contains(q.Actions, do) }

func questionOf(o access.Question) question {
	q := question{
		Run: o.Run, Agent: o.Name, Subject: o.About, Question: o.Open, Digest: manager.Digest(o.Open), About: turn.About(o.Open),
		Rule: o.Open.RuleText(), Mine: o.Mine, Actions: runs.Actions(o.Open.Kind),
	}
	if len(o.Open.Args) > 0 && string(o.Open.Args) != "null" {
		q.Edit = indented(o.Open.Args)
	}
	return q
}

func (u *UI) showRun(ctx context.Context, c *access.Client, r *http.Request) (*page, error) {
	have := map[string]bool{}
	for version := range strings.SplitSeq(r.URL.Query().Get("have"), ".") {
		have[version] = true
	}
	return u.runPage(ctx, c, r.PathValue("run"), have)
}

// secrets returns the values that the page of a run must not show.
func (u *UI) secrets(run *runs.Run) *secret.Values {
	if u.o.Secrets == nil {
		return nil
	}
	return u.o.Secrets(run)
}

// outline returns a run and its view without prompts.
func (u *UI) outline(ctx context.Context, c *access.Client, id string) (*runs.Run, *runview.View, error) {
	run, err := c.Read(id)
	if err != nil {
		return nil, nil, err
	}
	view, err := runpage.Outline(ctx, run, u.secrets(run))
	return run, view, err
}

// runPage returns the page of a run. The parts whose versions the reader has are without
// content.
func (u *UI) runPage(ctx context.Context, c *access.Client, id string, have map[string]bool) (*page, error) {
	run, view, err := u.outline(ctx, c, id)
	if err != nil {
		return nil, err
	}
	status := c.Status(ctx, id)
	view.Status = string(status)
	of := access.Owner{Agent: run.Start.Input.Agent, Spec: run.Start.Name}
	data := &runData{
		ID: id, Agent: c.AgentOf(of), Memory: run.Start.Input.MemoryID, Status: view.Status,
		Live: status == runs.Running || status == manager.Queued || status == manager.Suspended, Ended: hasEnded(status), MayRun: c.CanFor(auth.Run, of),
	}
	if from := run.Start.Input.From; from != nil {
		data.Parent = from.Run
	}
	open, err := c.Questions(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range open {
		if o.Run == id {
			data.Questions = append(data.Questions, questionOf(o))
		}
	}
	if len(data.Questions) > 0 {
		view.Status, view.Stop = "waiting", stop.Reason{Message: "for an answer"}
		data.Status = view.Status
	}
	live := &runpage.Live{Have: have, CallURL: func(path string) string { return callPath(id, path) }}
	if data.Body, err = live.Body(view); err != nil {
		return nil, err
	}
	return &page{Name: "run", Title: titleOf(view), Data: data}, nil
}

func hasEnded(status stop.RunStatus) bool {
	switch status {
	case stop.RunCompleted, stop.RunFailed, stop.RunCancelled:
		return true
	default:
		return false
	}
}

func titleOf(v *runview.View) string {
	if v.Question == "" {
		return v.Run
	}
	return line(v.Question)
}

// failed returns the page of a run with what went wrong with a form, whose content keep
// restores.
func (u *UI) failed(ctx context.Context, c *access.Client, r *http.Request, err error, keep func(*runData)) (*page, error) {
	what := u.o.Access.Problem(r, err)
	p, pageErr := u.runPage(ctx, c, r.PathValue("run"), nil)
	data, ok := (*runData)(nil), false
	if pageErr == nil {
		data, ok = p.Data.(*runData)
	}
	if !ok {
		return nil, err
	}
	p.Alert, p.Status = what.Detail, what.Status()
	keep(data)
	return p, nil
}

func (u *UI) answer(ctx context.Context, c *access.Client, r *http.Request) (*page, error) {
	id, do := r.PathValue("run"), r.PostForm.Get("do")
	a := manager.Answer{Path: r.PostForm.Get("path"), Do: do, Digest: r.PostForm.Get("digest")}
	switch do {
	case "deny":
		a.Value = r.PostForm.Get("reason")
	case "edit", "done":
		a.Value = r.PostForm.Get("edit")
	case "text":
		a.Value = r.PostForm.Get("text")
	}
	if a.Path == "" || do == "" {
		return nil, problem.New(problem.InvalidAnswer, "the form has no question or no decision")
	}
	if err := c.Answer(ctx, id, a); err != nil {
		return u.failed(ctx, c, r, err, func(d *runData) {
			for i := range d.Questions {
				if q := &d.Questions[i]; q.Path == a.Path {
					q.Reason, q.Edit, q.Text = r.PostForm.Get("reason"), r.PostForm.Get("edit"), r.PostForm.Get("text")
				}
			}
		})
	}
	return redirect(from(r, runPath(id))), nil
}

func (u *UI) message(ctx context.Context, c *access.Client, r *http.Request) (*page, error) {
	id, text := r.PathValue("run"), r.PostForm.Get("text")
	if err := c.Message(ctx, id, runs.Message{ID: runs.NewMessageID(), Text: text, Interrupt: r.PostForm.Get("interrupt") != ""}); err != nil {
		return u.failed(ctx, c, r, err, func(d *runData) { d.Draft = text })
	}
	return redirect(runPath(id)), nil
}

func (u *UI) cancel(ctx context.Context, c *access.Client, r *http.Request) (*page, error) {
	if err := c.Cancel(ctx, r.PathValue("run")); err != nil {
		return u.failed(ctx, c, r, err, func(*runData) {})
	}
	return redirect(from(r, runPath(r.PathValue("run")))), nil
}

func (u *UI) resume(ctx context.Context, c *access.Client, r *http.Request) (*page, error) {
	var set []string
	if s := r.PostForm.Get("set"); s != "" {
		set = []string{s}
	}
	if err := c.Resume(ctx, r.PathValue("run"), set, r.PostForm.Get("keep_spec") != ""); err != nil {
		return u.failed(ctx, c, r, err, func(*runData) {})
	}
	return redirect(runPath(r.PathValue("run"))), nil
}

// inbox shows the open questions of all runs.
func (u *UI) inbox(ctx context.Context, c *access.Client, _ *http.Request) (*page, error) {
	open, err := c.Questions(ctx)
	if err != nil {
		return nil, err
	}
	var all []question
	for _, o := range open {
		all = append(all, questionOf(o))
	}
	return &page{Name: "inbox", Title: "Inbox", Data: all}, nil
}

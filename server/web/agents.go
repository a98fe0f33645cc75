package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/costbound"
	"github.com/pexctl/pex/engine/diagram"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/problem"
)

// agentData is the data of the page of an agent.
type agentData struct {
	*agents.Agent
	MayRun    bool
	Fields    []field
	Graph     template.HTML
	WorstCase string // what a run can cost
	Runs      []row
	Source    string // the resolved spec, as JSON
	Found     []diag.Diagnostic
	Versions  []version
	Prompts   []prompt
}

// field is an input of the form that starts a run.
type field struct {
	Name, Doc, Value string
	Required         bool
	Long             bool // several lines
	JSON             bool // the value is JSON, not text
}

func (u *UI) listAgents(_ context.Context, c *access.Client, _ *http.Request) (*page, error) {
	var all []*agents.Agent
	for _, a := range c.Agents().All() {
		if c.Can(auth.View, a) {
			all = append(all, a)
		}
	}
	return &page{Name: "agents", Title: "Agents", Data: all}, nil
}

func (u *UI) showAgent(ctx context.Context, c *access.Client, r *http.Request) (*page, error) {
	return u.agentPage(ctx, c, r.PathValue("agent"), nil)
}

// agentPage returns the page of an agent. typed is the content of its form; nil = empty.
func (u *UI) agentPage(ctx context.Context, c *access.Client, name string, typed url.Values) (*page, error) {
	a, err := c.Agent(auth.View, name)
	if err != nil {
		return nil, err
	}
	found, _, err := c.List(ctx, runs.Filter{Limit: 10}, name, "")
	if err != nil {
		return nil, err
	}
	last, err := rows(ctx, c, found)
	if err != nil {
		return nil, err
	}
	versions, err := versionsOf(ctx, c, a)
	if err != nil {
		return nil, err
	}
	d := agentData{
		Found: access.DiagnosticsOf(a), Versions: versions, Prompts: promptsOf(a.Program),
		Agent: a, MayRun: c.Can(auth.Run, a), Fields: fieldsOf(a.Program, typed), Runs: last, Source: indented(a.Program.Source),
		Graph: template.HTML(diagram.Draw(a.Program, nil).SVG(a.Name)), WorstCase: worstCase(costbound.Bound(a.Program, costbound.Options{}).Limited),
	}
	return &page{Name: "agent", Title: a.Name, Data: d}, nil
}

// worstCase says what a run can cost.
func worstCase(t costbound.Totals) string {
	calls, cost := fmt.Sprintf("at most %s", text.Count(int(t.Calls.Most), "model call")), "an unknown cost: "+t.Cost.Unbounded
	if t.Calls.Unbounded != "" {
		calls = "any number of model calls"
	}
	if t.Cost.Unbounded == "" {
		cost = fmt.Sprintf("at most $%.4f", t.Cost.Most)
	}
	return calls + " and " + cost
}

// fieldsOf returns the inputs for the parameters of a program.
func fieldsOf(p *engine.Program, typed url.Values) (out []field) {
	for i := range p.Parameters {
		q := &p.Parameters[i]
		f := field{Name: q.Name, Doc: q.Doc, Required: q.Required, Long: q.Name == "question", JSON: !isText(q.Schema)}
		switch value, isTyped := typed[q.Name]; {
		case isTyped:
			f.Value = value[0]
		case q.Default == nil:
		case f.JSON:
			f.Value = string(jsonvalue.Encode(q.Default))
		default:
			f.Value, _ = q.Default.(string)
		}
		out = append(out, f)
	}
	return out
}

// isText reports whether a parameter is a string.
func isText(schema json.RawMessage) bool {
	var s struct {
		Type any `json:"type"`
	}
	return json.Unmarshal(schema, &s) != nil || s.Type == nil || s.Type == "string"
}

func (u *UI) startRun(ctx context.Context, c *access.Client, r *http.Request) (*page, error) {
	name := r.PathValue("agent")
	form, id, err := u.readAndStart(ctx, c, r)
	if err == nil {
		return redirect(runPath(id)), nil
	}
	what := u.o.Access.Problem(r, err)
	p, pageErr := u.agentPage(ctx, c, name, form)
	if pageErr != nil {
		return nil, err
	}
	p.Alert, p.Status = what.Detail, what.Status()
	return p, nil
}

// readAndStart starts a run from the form in a request.
func (u *UI) readAndStart(ctx context.Context, c *access.Client, r *http.Request) (form url.Values, id string, err error) {
	a, err := c.Agent(auth.Run, r.PathValue("agent"))
	if err != nil {
		return r.PostForm, "", err
	}
	form, files, err := readForm(c, r)
	if err == nil {
		id, err = u.start(ctx, c, a, form, files)
	}
	return form, id, err
}

// start starts a run from a form.
func (u *UI) start(ctx context.Context, c *access.Client, a *agents.Agent, form url.Values, files []agents.File) (id string, err error) {
	parameters := map[string]json.RawMessage{}
	var wrong []error
	for _, f := range fieldsOf(a.Program, form) {
		value := strings.ReplaceAll(f.Value, "\r\n", "\n")
		switch {
		case strings.TrimSpace(value) == "" && (f.JSON || !f.Required):
		case !f.JSON:
			parameters[f.Name] = jsonvalue.Encode(value)
		case json.Valid([]byte(value)):
			parameters[f.Name] = json.RawMessage(value)
		default:
			wrong = append(wrong, problem.New(problem.InvalidParameters, "%s must be JSON, such as 3, true or [\"a\"]", f.Name))
		}
	}
	if len(wrong) > 0 {
		return "", problem.New(problem.InvalidParameters, "%v", errors.Join(wrong...))
	}
	body := jsonvalue.Encode(parameters)
	s, err := c.Prepare(ctx, a, access.NewRun{Parameters: body, MemoryID: form.Get("memory_id"), Files: files, Body: body})
	if err != nil {
		return "", err
	}
	_, err = s.Run(ctx)
	return s.RunID, err
}

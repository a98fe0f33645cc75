package api

import (
	"bytes"
	"context"
	"net/http"
	"path/filepath"
	"slices"

	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/server/problem"
)

const evalText = `The same JSON as pexctl eval show ID -o json, without the gates and the baseline of the suite, paths of files and flags.`

func (a *operations) addEvals() {
	s := a.server
	of := func(id, path, summary, text string, responses map[int]any, problems ...int) describe {
		return describe{id: id, method: http.MethodGet, path: "/v1/evals" + path, tag: "evals", summary: summary, text: text, responses: responses, problems: problems}
	}
	add(a, of("listEvals", "", "List evaluations, latest first", "", map[int]any{200: EvalList{}}, 400, 422), s.listEvals)
	add(a, of("getEval", "/{eval}", "Get the report of an evaluation", evalText, map[int]any{200: jsonObject{}}, 404), s.getEval)
	add(a, of("getEvalPage", "/{eval}/report.html", "Get the report of an evaluation as a page", "A self-contained page with every trial.",
		map[int]any{200: mediaType("text/html")}, 404), s.evalPage)
}

type evalsRequest struct {
	Suite  string `query:"suite" doc:"Only evaluations of this suite."`
	Limit  int    `query:"limit" default:"50" minimum:"1" maximum:"500" doc:"Maximum number of evaluations."`
	Cursor string `query:"cursor" doc:"Where the page starts: next of the previous page."`
}

// EvalList is a page of evaluations.
type EvalList struct {
	Evals []batch.Summary `json:"evals" doc:"As pexctl eval ls -o json."`
	Next  string          `json:"next,omitempty" doc:"The cursor of the next page; missing on the last page."`
}

func (s *server) listEvals(ctx context.Context, in *evalsRequest) (reply, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	all, err := c.Evaluations()
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(m report.Manifest) bool { return in.Suite != "" && m.Suite != in.Suite })
	if in.Cursor != "" {
		i := slices.IndexFunc(all, func(m report.Manifest) bool { return m.ID == in.Cursor })
		if i < 0 {
			return nil, problem.New(problem.InvalidCursor, "query parameter cursor: unknown evaluation %q; use next of the previous page", in.Cursor)
		}
		all = all[i+1:]
	}
	list := EvalList{Evals: []batch.Summary{}}
	if len(all) > in.Limit {
		all = all[:in.Limit]
		list.Next = all[in.Limit-1].ID
	}
	for _, m := range all {
		list.Evals = append(list.Evals, c.SummarizeEvaluation(m))
	}
	return replyJSON(http.StatusOK, list)
}

type evalRequest struct {
	Eval string `path:"eval" doc:"Id of an evaluation."`
}

// evalReport returns the report of an evaluation in a format.
func (s *server) evalReport(ctx context.Context, id, format string) ([]byte, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	all, err := c.Evaluations()
	if err != nil {
		return nil, err
	}
	if s.Report == nil || !slices.ContainsFunc(all, func(m report.Manifest) bool { return m.ID == id }) {
		return nil, problem.New(problem.NotFound, "no evaluation %q", id)
	}
	r, rows, err := batch.Report(filepath.Join(c.Evals, id), report.Options{})
	if err != nil {
		s.Log.Error("read an evaluation", "eval", id, "error", err)
		return nil, problem.New(problem.StoreCorrupt, "the evaluation cannot be read; pexctl store check has details")
	}
	hidePaths(&r.Manifest)
	var b bytes.Buffer
	err = s.Report(&b, format, r, rows)
	return b.Bytes(), err
}

// hidePaths removes the paths of the server from a manifest.
func hidePaths(m *report.Manifest) {
	name := func(path string) string {
		if path == "" {
			return ""
		}
		return filepath.Base(path)
	}
	m.File, m.Dataset, m.Flags = name(m.File), name(m.Dataset), nil
	m.Variants = slices.Clone(m.Variants)
	for i := range m.Variants {
		m.Variants[i].File = name(m.Variants[i].File)
	}
}

func (s *server) getEval(ctx context.Context, in *evalRequest) (reply, error) {
	b, err := s.evalReport(ctx, in.Eval, "json")
	return replyBytes("application/json", b), err
}

func (s *server) evalPage(ctx context.Context, in *evalRequest) (reply, error) {
	b, err := s.evalReport(ctx, in.Eval, "html")
	return replyPage(b), err
}

// replyPage responds with a page whose own policy permits its script by its hash. The
// sandbox keeps the page from the origin of the API.
func replyPage(b []byte) reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy",
			"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts")
		w.Header().Set("Referrer-Policy", "no-referrer")
		writeBody(w, http.StatusOK, "text/html; charset=utf-8", b)
	}
}

package openai_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/internal/accesstest"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/openai"
)

// world is a handler with the agents of testdata/agents.txtar.
type world struct {
	*accesstest.World
	handler *openai.Handler
	t       testing.TB
	runs    []string // ids, in the order in which responses named them
}

func newWorld(t testing.TB, o openai.Options, parkAfter time.Duration) *world {
	t.Helper()
	dir := t.TempDir()
	goldentest.Txtar(t, "testdata/agents.txtar").Extract(t, dir)
	w := &world{t: t, World: accesstest.New(t, dir, accesstest.Options{ParkAfter: parkAfter, Definitions: func(d *agents.Definition) {
		if filepath.Base(d.Spec) == "hidden" {
			d.Expose = []string{"mcp"}
		}
	}})}
	o.Access = w.Access
	w.handler = openai.New(o)
	return w
}

// post sends a request of a client and returns the status and the body of the response.
func (w *world) post(client, path, body string, headers ...string) (int, string) {
	header := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		header.Set(headers[i], headers[i+1])
	}
	res := w.Do(w.handler, openai.Form(), client, http.MethodPost, path, body, header)
	return res.Code, res.Body.String()
}

var (
	runID  = regexp.MustCompile(`r-\d{8}-\d{6}-[0-9a-f]{8}|k-[a-z2-7]{26}`)
	newID  = regexp.MustCompile(`\b[0-9a-f]{32}\b`) // of a conversation
	stamps = regexp.MustCompile(`("(?:created|created_at|completed_at)":)\d+`)
)

// perform performs the requests of a script, one per line: CLIENT METHOD PATH BODY. A line that
// starts with + is a header of the next request. RUN1 is replaced by the id of the first run.
func (w *world) perform(script string) string {
	var out strings.Builder
	header := http.Header{}
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		for i, id := range w.runs {
			line = strings.ReplaceAll(line, fmt.Sprintf("RUN%d", i+1), id)
		}
		if line == "" || line[0] == '#' {
			continue
		}
		if h, ok := strings.CutPrefix(line, "+"); ok {
			name, value, _ := strings.Cut(strings.TrimSpace(h), ": ")
			header.Set(name, value)
			fmt.Fprintf(&out, "> %s\n", w.normal(line[1:]))
			continue
		}
		words := strings.SplitN(line, " ", 4)
		body := strings.Join(words[3:], "")
		fmt.Fprintf(&out, "> %s\n", w.normal(line))
		res := w.Do(w.handler, openai.Form(), words[0], words[1], words[2], body, header)
		header = http.Header{}
		fmt.Fprintf(&out, "< %d %s\n", res.Code, res.Header().Get("Content-Type"))
		for _, name := range []string{"X-Pex-Ignored", "Retry-After"} {
			if v := res.Header().Values(name); len(v) > 0 {
				fmt.Fprintf(&out, "< %s: %s\n", name, strings.Join(v, ", "))
			}
		}
		fmt.Fprintf(&out, "%s\n\n", strings.TrimRight(w.normal(res.Body.String()), "\n"))
	}
	return out.String()
}

// normal replaces ids and times.
func (w *world) normal(s string) string {
	s = runID.ReplaceAllStringFunc(s, func(id string) string {
		for i, known := range w.runs {
			if known == id {
				return fmt.Sprintf("RUN%d", i+1)
			}
		}
		w.runs = append(w.runs, id)
		return fmt.Sprintf("RUN%d", len(w.runs))
	})
	return stamps.ReplaceAllString(newID.ReplaceAllString(s, "NEW"), "${1}0")
}

// Each file of testdata/wire has the requests of clients and the responses.
func TestWire(t *testing.T) {
	goldentest.Each(t, "testdata/wire/*.txtar", func(t *testing.T, a *goldentest.Archive) {
		o := openai.Options{}
		if strings.Contains(a.Comment(), "progress: text") {
			o.Progress = openai.Text
		}
		w := newWorld(t, o, time.Hour)
		a.Want(t, "responses", w.perform(a.Input(t, "requests")))
		n := w.Runs()
		if strings.Contains(a.Comment(), "none starts a run") && n > 0 || strings.Contains(a.Comment(), "exactly one run") && n != 1 {
			t.Errorf("%d runs were started", n)
		}
	})
}

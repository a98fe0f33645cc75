package agui_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/internal/accesstest"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/agui"
	"github.com/pexctl/pex/server/problem"
)

// newWorld serves the agents of a folder. The agent hidden is not for this protocol.
func newWorld(t testing.TB, dir string) (*accesstest.World, func(client, agent, body string) *httptest.ResponseRecorder) {
	t.Helper()
	w := accesstest.New(t, dir, accesstest.Options{Definitions: func(d *agents.Definition) {
		if filepath.Base(d.Spec) == "hidden" {
			d.Expose = []string{"openai"}
		}
	}})
	h := agui.New(agui.Options{Access: w.Access, MaxBody: 64 << 10})
	return w, func(client, agent, body string) *httptest.ResponseRecorder {
		return w.Do(h, agui.Form(), client, http.MethodPost, "/agui/"+agent, body, nil)
	}
}

// shown returns a response without reasoning, parts of which a client may miss, and pings.
func shown(res *httptest.ResponseRecorder) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s\n", res.Code, res.Header().Get("Content-Type"))
	for block := range strings.SplitSeq(strings.TrimSpace(res.Body.String()), "\n\n") {
		if !strings.Contains(block, `"type":"REASONING_`) && !strings.HasPrefix(block, "retry:") {
			b.WriteString(block + "\n")
		}
	}
	return b.String()
}

// Each archive has requests, and the responses to them. A request is a line with client and
// agent, then a line with the body.
func TestExchanges(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			archive := goldentest.Txtar(t, file)
			dir := t.TempDir()
			archive.Extract(t, dir)
			w, post := newWorld(t, dir)
			var out strings.Builder
			for request := range strings.SplitSeq(archive.Input(t, "requests"), "---\n") {
				title, request := comment(request)
				head, body, _ := strings.Cut(strings.TrimSpace(request), "\n")
				client, agent, _ := strings.Cut(head, " ")
				body = strings.ReplaceAll(body, "<LARGE>", strings.Repeat("a", 64<<10))
				before := w.Runs()
				fmt.Fprintf(&out, "%s> %s\n%s", title, head, shown(post(client, agent, body)))
				if n := w.Runs() - before; n > 0 {
					fmt.Fprintf(&out, "(%d run started)\n", n)
				}
				w.Tenant("").Manager.Await(t.Context(), "r-1") // parks
				out.WriteString("\n")
			}
			archive.Want(t, "responses", out.String())
		})
	}
}

// comment splits a request into its comment and the rest.
func comment(request string) (title, rest string) {
	if !strings.HasPrefix(request, "#") {
		return "", request
	}
	title, rest, _ = strings.Cut(request, "\n")
	return title + "\n", rest
}

func TestGetIsNotAllowed(t *testing.T) {
	h := agui.New(agui.Options{})
	for path, want := range map[string]int{"/agui/hello": http.StatusMethodNotAllowed, "/agui/hello/x": http.StatusNotFound} {
		res := httptest.NewRecorder()
		h.ServeHTTP(res, problem.WithForm(httptest.NewRequest(http.MethodGet, path, nil), agui.Form()))
		if res.Code != want || !strings.Contains(res.Body.String(), "RUN_ERROR") {
			t.Error(path, res.Code, res.Body)
		}
	}
}

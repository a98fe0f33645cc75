//go:build unix

package servetest_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// One request to a server gives the answer of pexctl run, and both show the same result.
func TestOneRequestGivesTheAnswerOfTheCommandLine(t *testing.T) {
	alone(t)
	w := newWorld(t, nil)
	if err := os.CopyFS(w.dir, os.DirFS(filepath.Join("..", "..", "specs", "hello"))); err != nil {
		t.Fatal(err)
	}
	answer, err := w.command("run", "spec.yaml", "-q").Output()
	if err != nil {
		t.Fatal(err)
	}
	w.start()
	var run, got string
	r, err := w.open(t.Context(), http.MethodPost, "/v1/agents/hello/runs", "{}", "accept: text/event-stream")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	_ = readEvents(r.Body, func(ev event) bool {
		if ev.kind == "run.completed" {
			var last struct{ Run, Text string }
			decode(w, ev.data, &last)
			run, got = last.Run, last.Text
		}
		return ev.kind != "end"
	})
	if got+"\n" != string(answer) || run == "" {
		t.Fatalf("run %q answers %q; pexctl run: %q", run, got, answer)
	}
	shown, err := w.command("runs", "show", run, "-o", "json").Output()
	if err != nil {
		t.Fatal(err)
	}
	body := w.must(http.StatusOK, http.MethodGet, "/v1/runs/"+run, "")
	if result, links, ok := bytes.Cut(body, []byte(",\n  \"links\": {")); !ok || string(result)+"\n}\n" != string(shown) || !bytes.Contains(links, []byte(run+"/events")) {
		t.Errorf("GET /v1/runs/%s:\n%s\npexctl runs show -o json:\n%s", run, body, shown)
	}
}

// A client that waits gets what GET returns later.
func TestAnAwaitedResultIsTheStoredOne(t *testing.T) {
	alone(t)
	w := newWorld(t, map[string]string{"two.yaml": agent{name: "two", steps: 2}.spec(), "limited.yaml": strings.ReplaceAll(agent{name: "limited", steps: 4}.spec(), "max_steps: 100", "max_tool_calls: 2")})
	w.start()
	for name, code := range map[string]string{"two": "answered", "limited": "max_tool_calls"} {
		body := w.must(http.StatusOK, http.MethodPost, "/v1/agents/"+name+"/runs", `{"run_id":"`+name+`","question":"q"}`, "prefer: wait=60")
		if stored := w.must(http.StatusOK, http.MethodGet, "/v1/runs/"+name, ""); !bytes.Equal(body, stored) {
			t.Errorf("%s: awaited:\n%s\nstored:\n%s", name, body, stored)
		}
		if !bytes.Contains(body, []byte(`"code": "`+code+`"`)) {
			t.Errorf("%s: %s", name, body)
		}
	}
}

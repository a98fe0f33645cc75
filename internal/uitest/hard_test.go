//go:build e2e

package uitest_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/internal/browsertest"
)

// guarded is a server with agents of the files, whose clients need a token.
func guarded() map[string]string {
	sum := sha256.Sum256([]byte("secret-of-ann"))
	return map[string]string{
		"desk/spec.yaml": desk,
		"server.yaml":    "apiVersion: pex/v1\nkind: Server\nmetadata: {name: office}\nagents: {desk: {spec: desk/spec.yaml}}\nauth: {tokens: {file: tokens.yaml}}\n",
		"tokens.yaml":    "apiVersion: pex/v1\nkind: Tokens\ntokens: [{name: ann, sha256: " + hex.EncodeToString(sum[:]) + ", roles: [run, approve]}]\n",
	}
}

// A person whose token has expired while they type signs in, and what they typed is sent once.
func TestSignInInTheMiddleOfAnEdit(t *testing.T) {
	s := serve(t, guarded())
	b := browsertest.Open(t, s.url("/"), 1280, 900)
	b.Visit(s.url("/inbox"))
	b.Await(`document.querySelector("h1").textContent === "Sign in"`)
	b.Shoot("signin")
	b.Type(`input[type=password]`, "secret-of-ann\n")
	b.Await(`location.pathname === "/inbox" && document.querySelector("h1").textContent === "Inbox"`)
	b.Visit(s.url("/agents/desk"))
	b.Type(`textarea[name=question]`, "What is 2 + 2?")
	b.Click(`.start button`)
	b.Await(`!!document.querySelector("button[value=approve]")`)
	run := browsertest.Value[string](b, `location.pathname`)
	b.Visit(s.url("/inbox"))
	b.Await(`document.querySelectorAll(".decision").length === 1`)
	b.Visit(s.url(run))
	b.Type(`input[name=reason]`, "not <today>")
	b.ClearCookies()
	b.Await(`document.getElementById("offline").textContent.includes("signed out")`)
	b.Shoot("signed-out")
	if reason := browsertest.Value[string](b, `document.querySelector("input[name=reason]").value`); reason != "not <today>" {
		t.Errorf("reason: %q", reason)
	}
	b.Click(`button[value=deny]`)
	b.Await(`document.querySelector("h1").textContent === "Sign in"`)
	b.Shoot("signin-again")
	b.Type(`input[type=password]`, "secret-of-ann\n")
	b.Await(fmt.Sprintf(`location.pathname === %q && document.querySelectorAll("#decisions .card").length === 1`, run))
	if decisions := b.Texts("#decisions .card"); len(decisions) != 1 || !strings.Contains(decisions[0], "not <today>") || !strings.Contains(decisions[0], "ann") {
		t.Error(decisions)
	}
}

// The page of a run that is deleted stays readable, and says that the run is gone.
func TestARunIsDeletedWhileItsPageIsOpen(t *testing.T) {
	s := serve(t, map[string]string{"desk/spec.yaml": desk})
	b := browsertest.Open(t, s.url("/"), 1280, 900)
	b.Visit(s.url("/agents/desk"))
	b.Type(`textarea[name=question]`, "What is 2 + 2?")
	b.Click(`.start button`)
	b.Await(`!!document.querySelector("button[value=approve]")`)
	run := browsertest.Value[string](b, `location.pathname`)
	if status := s.send(http.MethodPost, "/v1"+run+"/cancel"); status >= http.StatusMultipleChoices {
		t.Fatal(status)
	}
	b.Await(`document.getElementById("live").dataset.status === "cancelled"`)
	if forms := b.Texts(`#actions form, #message form, #questions form`); len(forms) != 0 {
		t.Errorf("a run that has ended offers %q", forms)
	}
	for s.send(http.MethodDelete, "/v1"+run+"?force=true") == http.StatusConflict { // its session is about to end
		time.Sleep(50 * time.Millisecond)
	}
	b.Click(`#rows .item.model summary`)
	b.Await(`document.getElementById("offline").textContent.includes("no longer exists")`)
	if heading := b.Texts("h1"); len(heading) != 1 || heading[0] != "What is 2 + 2?" {
		t.Error(heading)
	}
	b.Click(`a[href$="/fork"]`)
	b.Await(`document.querySelector("h1").textContent.includes("no run")`)
}

// send sends a request of the API, and returns the status of the response.
func (s *server) send(method, path string) int {
	s.t.Helper()
	return s.sendBody(method, path, "")
}

// answer approves a question as another client.
func (s *server) answer(run, path string) {
	s.t.Helper()
	if status := s.sendBody(http.MethodPost, "/v1"+run+"/answers", fmt.Sprintf(`{"path": %q, "do": "approve"}`, path)); status >= http.StatusMultipleChoices {
		s.t.Fatal(status)
	}
}

func (s *server) sendBody(method, path, body string) int {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url(path), strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}

// reader is an agent with a tool that returns a whole file.
const reader = `apiVersion: pex/v1
kind: Agent
metadata: {name: reader}
llms:
  main:
    provider: scripted
    options:
      replies:
        - {role: planner, text: '{"steps": ["Read"], "result": ""}'}
        - {role: executor, when: 'call == 1', tool_calls: [{name: read_file, arguments: {path: big.txt}}]}
        - {role: executor, text: done}
        - {role: reflector, text: '{"steps": [], "result": "Read."}'}
planner: {llm: main}
tools: {read_file: {root: files, max_bytes: 8000000, max_output_bytes: 8000000}}
memory: {backend: none}
`

// A tool result of 5 MB is clipped on the page, which offers the whole.
func TestALargeToolResultIsClipped(t *testing.T) {
	s := serve(t, map[string]string{"reader/spec.yaml": reader, "reader/files/big.txt": strings.Repeat("All work and no play. ", 5<<20/22)})
	b := browsertest.Open(t, s.url("/"), 1280, 900)
	b.Visit(s.url("/agents/reader"))
	b.Type(`textarea[name=question]`, "Read it")
	b.Click(`.start button`)
	b.Await(`document.getElementById("live")?.dataset.status === "completed"`)
	page := browsertest.Value[string](b, `location.pathname`)
	b.Visit(s.url(page))
	if size := compressed(t, s.url(page)); size > 80<<10 {
		t.Errorf("page of %d bytes", size)
	}
	b.Click(`#rows .item.tool summary`)
	b.Await(`document.querySelector("#rows .item.tool .body pre + p, #rows .item.tool .body a[download]")`)
	text := browsertest.Value[string](b, `document.querySelector("#rows .item.tool .body").textContent`)
	if len(text) > 80<<10 || !strings.Contains(text, "All work and no play.") || !strings.Contains(text, "more in the journal") {
		t.Errorf("%d bytes: %.300s", len(text), text)
	}
	if whole := fetched(t, browsertest.Value[string](b, `document.querySelector("#rows .item.tool a[download]").href`)); len(whole) < 5<<20-100 {
		t.Errorf("the whole has %d bytes", len(whole))
	}
	heap, _ := b.Memory()
	t.Logf("5 MB tool result: page %d kB compressed, call %d kB, %d kB of JavaScript, server at most %d MB", compressed(t, s.url(page))>>10, len(text)>>10, heap>>10, s.memory()>>20)
}

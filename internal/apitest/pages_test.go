package apitest_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/problem"
	"github.com/pexctl/pex/server/web"
)

// pages are the pages of a world.
type pages struct {
	*world
	ui *web.UI
}

func newPages(t *testing.T) *pages {
	t.Helper()
	archive, dir := goldentest.Txtar(t, "testdata/projects/bad-input.txtar"), t.TempDir()
	archive.Extract(t, dir)
	w := newWorld(t, dir, manager.NewSlots(manager.Limits{Running: 8, RunningPerTenant: 8, Waiting: 8}))
	return &pages{w, web.New(web.Options{Access: w.access, Version: "test", SignIn: func() bool { return true }})}
}

// get opens a page as a client, and returns its status and text.
func (p *pages) get(client, path string) (status int, body string) {
	return p.request(client, httptest.NewRequest(http.MethodGet, path, nil))
}

// submit sends a form, and returns the place of the next page, or the status and text of
// the response.
func (p *pages) submit(client, path string, form url.Values) (next string, status int, body string) {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Client", client)
	res := p.serve(r)
	return res.Header().Get("Location"), res.Code, res.Body.String()
}

func (p *pages) request(client string, r *http.Request) (status int, body string) {
	r.Header.Set("X-Client", client)
	res := p.serve(r)
	return res.Code, res.Body.String()
}

func (p *pages) serve(r *http.Request) *httptest.ResponseRecorder {
	p.t.Helper()
	res := httptest.NewRecorder()
	identified(p.ui).ServeHTTP(res, problem.WithForm(r, p.ui.Form()))
	if policy := res.Header().Get("Content-Security-Policy"); strings.HasPrefix(res.Header().Get("Content-Type"), "text/html") && res.Header().Get("Location") == "" && !strings.Contains(policy, "default-src 'none'") {
		p.t.Errorf("%s: policy %q", r.URL.Path, policy)
	}
	return res
}

var hidden = regexp.MustCompile(`name="(path|digest)" value="([^"]*)"`)

// question returns the hidden fields of the first form on a page.
func question(body string) url.Values {
	form := url.Values{}
	for _, m := range hidden.FindAllStringSubmatch(body, 2) {
		form.Set(m[1], html.UnescapeString(m[2]))
	}
	return form
}

// A person starts a run, corrects a mistake in an edit, approves, and compares two runs: all
// without JavaScript.
func TestARunIsStartedAndApprovedByForms(t *testing.T) {
	p := newPages(t)
	if status, body := p.get("ann", "/"); status != http.StatusOK || !strings.Contains(body, "No runs.") {
		t.Fatal(status, body)
	}
	next, status, body := p.submit("ann", "/agents/desk", url.Values{"question": {"Add <b>1</b> and 1"}})
	if status != http.StatusSeeOther {
		t.Fatal(status, body)
	}
	run := strings.TrimPrefix(next, "/runs/")
	p.await(run)
	_, body = p.get("bea", next)
	form := question(body)
	if !strings.Contains(body, "Add &lt;b&gt;1&lt;/b&gt; and 1") || strings.Contains(body, "<b>1</b>") || form.Get("path") == "" || !strings.Contains(body, "waiting") {
		t.Fatal(body)
	}
	if _, inbox := p.get("bea", "/inbox"); !strings.Contains(inbox, `/runs/`+run+`">Add &lt;b&gt;1&lt;/b&gt; and 1</a>`) {
		t.Error(inbox)
	}
	if _, list := p.get("ann", "/runs?status=interrupted&agent=desk"); !strings.Contains(list, "waiting") {
		t.Error(list)
	}

	form.Set("do", "edit")
	form.Set("edit", `{"expression": "1 +`)
	form.Set("reason", "typed too")
	_, status, body = p.submit("bea", next+"/answer", form)
	if status != http.StatusUnprocessableEntity || !strings.Contains(body, `{&#34;expression&#34;: &#34;1 &#43;`) || !strings.Contains(body, "typed too") || !strings.Contains(body, `role="alert"`) {
		t.Error(status, body, p.log.String())
	}
	form.Set("do", "approve")
	if place, status, body := p.submit("bea", next+"/answer", form); place != next {
		t.Fatal(status, body)
	}
	p.await(run)
	if _, body = p.get("ann", next); !strings.Contains(body, "Completed") && !strings.Contains(body, "completed") || question(body).Has("path") {
		t.Error(body)
	}
	if _, status, body := p.submit("bea", next+"/answer", form); status != http.StatusConflict || !strings.Contains(body, `role="alert"`) {
		t.Error(status, body)
	}

	other, _, _ := p.submit("ann", "/agents/hello", url.Values{"amount": {"3"}})
	p.await(strings.TrimPrefix(other, "/runs/"))
	res := p.serve(asClient("ann", "/diff?run="+run+"&run="+strings.TrimPrefix(other, "/runs/")))
	if status, body := p.get("ann", res.Header().Get("Location")); status != http.StatusOK || !strings.Contains(body, "Compare runs") {
		t.Error(status, body)
	}
}

// The content of a call is on its own page, and an update has only what the reader lacks.
func TestACallHasAPage(t *testing.T) {
	p := newPages(t)
	next, _, _ := p.submit("ann", "/agents/hello", url.Values{"question": {"Hi <b>"}})
	p.await(strings.TrimPrefix(next, "/runs/"))
	_, body := p.get("ann", next)
	link := `<a href="` + next + `/calls/plan.1/model">`
	if !strings.Contains(body, link) || strings.Contains(body, "<h4>Prompt</h4>") {
		t.Error(body)
	}
	if status, call := p.get("ann", next+"/calls/plan.1/model"); status != http.StatusOK || !strings.Contains(call, "<h4>Prompt</h4>") || strings.Contains(call, "Hi <b>") ||
		!strings.Contains(call, `href="/v1`+next+`/calls/plan.1/model"`) {
		t.Error(status, call)
	}
	if status, _ := p.get("ann", next+"/calls/plan.9/model"); status != http.StatusNotFound {
		t.Error(status)
	}
	var have []string
	for _, m := range regexp.MustCompile(`data-v="([^"]+)"`).FindAllStringSubmatch(body, -1) {
		have = append(have, m[1])
	}
	if _, update := p.get("ann", next+"?have="+strings.Join(have, ".")); strings.Contains(update, link) || !strings.Contains(update, `<div id="rows"><div class="chunk"`) {
		t.Error(update)
	}
}

// A fork is refused with what was typed, or compared with its parent.
func TestARunIsForkedByAForm(t *testing.T) {
	p := newPages(t)
	next, _, _ := p.submit("ann", "/agents/hello", url.Values{"question": {"Hi"}})
	p.await(strings.TrimPrefix(next, "/runs/"))
	if _, body := p.get("ann", next+"/fork"); !strings.Contains(body, `<option value="plan.1/model">`) || !strings.Contains(body, "llms.*.model") {
		t.Error(body)
	}
	_, status, body := p.submit("ann", next+"/fork", url.Values{"at": {"plan.1/model"}, "set": {"tools.clock.root=/"}})
	if status != http.StatusForbidden || !strings.Contains(body, "tools.clock.root=/</textarea>") || !strings.Contains(body, `<option value="plan.1/model" selected>`) {
		t.Error(status, body)
	}
	fork, status, body := p.submit("ann", next+"/fork", url.Values{"at": {"plan.1/model"}, "set": {"limits.max_steps=3\n"}})
	if status != http.StatusSeeOther {
		t.Fatal(status, body)
	}
	p.await(strings.TrimPrefix(fork, "/runs/"))
	if _, body := p.get("ann", fork); !strings.Contains(body, `href="`+next+"/diff/"+strings.TrimPrefix(fork, "/runs/")) {
		t.Error(body)
	}
	if status, _ := p.get("vic", next+"/fork"); status != http.StatusForbidden {
		t.Error(status)
	}
}

// Admins edit the prompts of the call at which they fork, and see what the fork would do before
// they start it.
func TestPromptsAreEditedInAForm(t *testing.T) {
	p := newPages(t)
	next, _, _ := p.submit("ann", "/agents/hello", url.Values{"question": {"Hi"}})
	p.await(strings.TrimPrefix(next, "/runs/"))
	if _, body := p.get("ann", next+"/fork?at=plan.1/model"); strings.Contains(body, `name="prompt.`) || !strings.Contains(body, "needs the role admin") {
		t.Error(body)
	}
	if _, status, _ := p.submit("ann", next+"/fork", url.Values{"at": {"plan.1/model"}, "prompt.planner.planner_prompt": {"mine"}}); status != http.StatusForbidden {
		t.Error(status)
	}
	if _, body := p.get("ann", next+"/calls/plan.1/model"); !strings.Contains(body, next+"/fork?at=plan.1%2fmodel") {
		t.Error(body)
	}
	if _, body := p.get("vic", next+"/calls/plan.1/model"); strings.Contains(body, "Fork here") {
		t.Error(body)
	}

	_, body := p.get("root", next+"/fork?at=plan.1/model")
	form := url.Values{"at": {"plan.1/model"}, "do": {"check"}}
	for _, m := range regexp.MustCompile(`(?s)<textarea name="(prompt\.[^"]+)"[^>]*>\n(.*?)</textarea>`).FindAllStringSubmatch(body, -1) {
		form.Set(m[1], strings.ReplaceAll(html.UnescapeString(m[2]), "\n", "\r\n")) // as browsers send it
	}
	const field = "prompt.planner.planner_prompt"
	if !form.Has(field) || strings.Index(body, `name="`+field) > strings.Index(body, "Other prompts") || !strings.Contains(body, `value="plan.1/model" selected`) {
		t.Fatal(body)
	}
	if _, status, body := p.submit("root", next+"/fork", form); status != http.StatusOK || strings.Contains(body, "edited</span>") || !strings.Contains(body, "with the recorded request") {
		t.Error(status, body)
	}
	form.Set(field, "Plan\r\nabout ${parameters.questoin}")
	if _, status, body := p.submit("root", next+"/fork", form); status != http.StatusUnprocessableEntity || !strings.Contains(body, "prompt planner.planner_prompt, line 2, column 7: unknown name parameters.questoin") ||
		!strings.Contains(body, "did you mean ${parameters.question}?") || !strings.Contains(body, "about ${parameters.questoin}</textarea>") {
		t.Error(status, body)
	}
	form.Set(field, "</textarea><script>alert(1)</script>\r\n")
	if _, status, body := p.submit("root", next+"/fork", form); status != http.StatusOK || !strings.Contains(body, "continues live at plan.1/model") || !strings.Contains(body, "with another request: prompt") || strings.Contains(body, "<script>alert") {
		t.Error(status, body)
	}
	form.Set("do", "fork")
	fork, status, body := p.submit("root", next+"/fork", form)
	if status != http.StatusSeeOther {
		t.Fatal(status, body)
	}
	id := strings.TrimPrefix(fork, "/runs/")
	p.await(id)
	_, body = p.get("root", next+"/diff/"+id)
	if prompt := strings.Index(body, "planner.planner_prompt"); prompt < 0 || prompt > strings.Index(body, "Figures") || !strings.Contains(body, "&#43;&lt;/textarea&gt;&lt;script&gt;") {
		t.Error(body)
	}
	if _, status, body := p.submit("root", fork+"/fork", url.Values{"at": {"plan.1/model"}, "do": {"show"}, field: {strings.Repeat("x", 1<<20+1)}}); status != http.StatusOK || !strings.Contains(body, `name="`+field) {
		t.Error(status)
	}
	if _, status, body := p.submit("root", fork+"/fork", url.Values{"at": {"plan.1/model"}, "do": {"check"}, field: {strings.Repeat("x", 1<<20+1)}}); status != http.StatusUnprocessableEntity || !strings.Contains(body, "the maximum is") {
		t.Error(status)
	}
}

func asClient(client, path string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("X-Client", client)
	return r
}

// A form with a mistake comes back with everything that was typed.
func TestFormsKeepWhatWasTyped(t *testing.T) {
	p := newPages(t)
	for value, want := range map[string]string{"many": "amount must be JSON", "-5": "amount"} {
		_, status, body := p.submit("ann", "/agents/hello", url.Values{"question": {"A long question"}, "amount": {value}})
		if status != http.StatusUnprocessableEntity || !strings.Contains(body, "A long question") || !strings.Contains(body, `value="`+value+`"`) || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", value, status, body)
		}
	}
}

// A page shows a client what the API would, and nothing else.
func TestPagesOfOtherClients(t *testing.T) {
	p := newPages(t)
	next, _, _ := p.submit("ann", "/agents/desk", url.Values{"question": {"canary"}})
	p.await(strings.TrimPrefix(next, "/runs/"))
	for _, c := range []struct {
		client, path string
		status       int
		has          string
	}{
		{"eve", next, http.StatusNotFound, "no run"}, // of another tenant
		{"eve", "/inbox", http.StatusOK, "No run waits"},
		{"none", next, http.StatusNotFound, "no run"},
		{"", next, http.StatusUnauthorized, `name="sign-in-token"`},
		{"vic", "/evals", http.StatusOK, "No evaluations"},
		{"root", "/conversations", http.StatusOK, "No conversations"},
		{"none", "/conversations", http.StatusForbidden, "needs the role view"},
		{"root", "/conversations/m-1", http.StatusNotFound, "no conversation"},
		{"vic", next, http.StatusOK, "You may not answer this question"},
		{"vic", "/agents/desk", http.StatusOK, "You may not start runs"},
		{"ann", "/agents/nothing", http.StatusNotFound, "no agent"},
		{"ann", "/runs/../../etc", http.StatusTemporaryRedirect, ""},
		{"ann", "/nothing", http.StatusNotFound, "no such page"},
		{"ann", "/runs?cursor=x", http.StatusBadRequest, "expired"},
		{"ann", "/diff?run=a", http.StatusUnprocessableEntity, "select two runs"},
	} {
		status, body := p.get(c.client, c.path)
		if status != c.status || !strings.Contains(body, c.has) || c.client == "eve" && strings.Contains(body, "canary") {
			t.Errorf("%s %s: %d %s", c.client, c.path, status, body)
		}
	}
	form := url.Values{"path": {"x"}, "do": {"approve"}}
	if _, status, body := p.submit("vic", next+"/answer", form); status != http.StatusForbidden {
		t.Error(status, body)
	}
}

func TestSigningIn(t *testing.T) {
	p := newPages(t)
	r := httptest.NewRequest(http.MethodPost, "/login", strings.NewReader("sign-in-token=secret"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res := p.serve(r)
	cookie := res.Header().Get("Set-Cookie")
	if res.Code != http.StatusSeeOther || !strings.Contains(cookie, "pex_token=secret") || !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Lax") {
		t.Errorf("%d %s", res.Code, cookie)
	}
	r = httptest.NewRequest(http.MethodPost, "/login", strings.NewReader("sign-in-token=secret"))
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	if res := p.serve(r); res.Code != http.StatusForbidden || res.Header().Get("Set-Cookie") != "" {
		t.Errorf("%d %s", res.Code, res.Header())
	}
}

var link = regexp.MustCompile(`(?:href|src)="(/static/[^"]*)"`)

func TestStaticFilesAreCachedForever(t *testing.T) {
	p := newPages(t)
	_, body := p.get("ann", "/")
	found := link.FindAllStringSubmatch(body, -1)
	if len(found) != 3 {
		t.Fatal(body)
	}
	for _, m := range found {
		res := p.serve(httptest.NewRequest(http.MethodGet, m[1], nil))
		if res.Code != http.StatusOK || !strings.Contains(res.Header().Get("Cache-Control"), "immutable") || res.Body.Len() == 0 {
			t.Errorf("%s: %d", m[1], res.Code)
		}
	}
}

// A client whose token has expired returns to its page, and what it typed is sent once.
func TestSigningInAgain(t *testing.T) {
	p := newPages(t)
	next, _, _ := p.submit("ann", "/agents/desk", url.Values{"question": {"Add 1 and 1"}})
	p.await(strings.TrimPrefix(next, "/runs/"))
	_, body := p.get("bea", next)
	form := question(body)
	form.Set("do", "deny")
	form.Set("reason", `"><script>`)
	if _, body := p.get("", next+"?x=1&have=a.b"); !strings.Contains(body, `name="sign-in-next" value="`+next+`?x=1"`) || strings.Contains(body, "sign-in-send") {
		t.Error(body)
	}
	_, status, body := p.submit("", next+"/answer", form)
	if status != http.StatusUnauthorized || !strings.Contains(body, `name="sign-in-send" value="1"`) || !strings.Contains(body, `name="sign-in-next" value="`+next+`/answer"`) ||
		!strings.Contains(body, `name="reason" value="&#34;&gt;&lt;script&gt;"`) {
		t.Error(status, body)
	}
	form.Set("sign-in-next", next+"/answer")
	form.Set("sign-in-send", "1")
	if _, status, body := p.submit("", "/login", form); status != http.StatusUnauthorized || !strings.Contains(body, `name="reason"`) || strings.Count(body, "sign-in-next") != 1 {
		t.Error(status, body)
	}
	form.Set("sign-in-token", "secret")
	if place, status, _ := p.submit("", "/login", form); status != http.StatusTemporaryRedirect || place != next+"/answer" {
		t.Error(status, place)
	}
	if place, status, body := p.submit("bea", next+"/answer", form); place != next {
		t.Error(status, body)
	}
	for _, evil := range []string{"https://evil.example/", "//evil.example/runs/x", `/\evil.example`, "/v1/runs", "javascript:alert(1)", "runs/x"} {
		if place, _, _ := p.submit("", "/login", url.Values{"sign-in-token": {"secret"}, "sign-in-next": {evil}}); place != "/" {
			t.Errorf("%s leads to %s", evil, place)
		}
	}
}

// The form of another web page is not sent after a sign-in.
func TestFormsOfOtherPagesAreNotSentAgain(t *testing.T) {
	p := newPages(t)
	r := httptest.NewRequest(http.MethodPost, "/runs/r-1/cancel", strings.NewReader("a=b"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	if status, body := p.request("", r); status != http.StatusUnauthorized || strings.Contains(body, "sign-in-send") || strings.Contains(body, `name="a"`) {
		t.Error(status, body)
	}
}

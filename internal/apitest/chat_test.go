package apitest_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

var runLink = regexp.MustCompile(`href="/runs/([^"?]+)">Run</a>`)

// A conversation is held by forms: a question, an approval, a message to the run under way, and a second question that
// sees the first turn.
func TestAChatIsHeldByForms(t *testing.T) {
	p := newPages(t)
	if status, body := p.get("ann", "/chat/desk"); status != http.StatusOK || !strings.Contains(body, "Ask desk something") || !strings.Contains(body, "chat-") {
		t.Fatal(status, body)
	}
	next, status, body := p.submit("ann", "/chat/desk", url.Values{"c": {""}, "text": {"Add <b>1</b> and 1"}})
	if status != http.StatusSeeOther || !strings.HasPrefix(next, "/chat/desk?c=c-") {
		t.Fatal(status, next, body)
	}
	id := strings.TrimPrefix(next, "/chat/desk?c=")
	_, body = p.get("ann", next)
	found := runLink.FindStringSubmatch(body)
	if found == nil {
		t.Fatal(body)
	}
	run := found[1]
	p.await(run)
	_, body = p.get("bea", next)
	form := question(body)
	if !strings.Contains(body, "Add &lt;b&gt;1&lt;/b&gt; and 1") || strings.Contains(body, "<b>1</b>") || form.Get("path") == "" {
		t.Fatal(body)
	}

	// While the run waits, text is a message to it.
	if again, status, body := p.submit("ann", "/chat/desk", url.Values{"c": {id}, "text": {"Be quick"}}); again != next {
		t.Fatal(status, body)
	}
	if _, body := p.get("ann", next); !strings.Contains(body, "Be quick") || len(runLink.FindAllString(body, -1)) != 1 {
		t.Error(body)
	}

	form.Set("do", "approve")
	form.Set("from", next)
	if place, status, body := p.submit("bea", "/runs/"+run+"/answer", form); place != next {
		t.Fatal(place, status, body)
	}
	p.await(run)
	_, body = p.get("ann", next)
	if !strings.Contains(body, `<p class="card answer"`) || question(body).Has("path") || strings.Contains(body, "Cancel the run") {
		t.Error(body)
	}

	// The next text is a new turn.
	if again, status, body := p.submit("ann", "/chat/desk", url.Values{"c": {id}, "text": {"And 2 and 2?"}}); again != next {
		t.Fatal(status, body)
	}
	if _, body := p.get("ann", next); len(runLink.FindAllString(body, -1)) != 2 {
		t.Error(body)
	}
	if _, body := p.get("ann", "/chat/desk"); !strings.Contains(body, `href="/chat/desk?c=`+id+`"`) {
		t.Error(body)
	}
}

func TestChatsOfOtherClients(t *testing.T) {
	p := newPages(t)
	next, _, _ := p.submit("ann", "/chat/desk", url.Values{"text": {"canary"}})
	for _, c := range []struct {
		client, path string
		status       int
		has          string
	}{
		{"eve", next, http.StatusOK, "Ask desk something"}, // another tenant
		{"none", next, http.StatusNotFound, "no agent"},
		{"vic", next, http.StatusOK, "You may not start runs"},
		{"ann", "/chat/nothing", http.StatusNotFound, "no agent"},
		{"ann", "/chat/desk?c=" + strings.Repeat("x", 300), http.StatusOK, "Ask desk something"},
	} {
		status, body := p.get(c.client, c.path)
		if status != c.status || !strings.Contains(body, c.has) || c.client == "eve" && strings.Contains(body, "canary") {
			t.Errorf("%s %s: %d %s", c.client, c.path, status, body)
		}
	}
	for _, c := range []struct {
		client string
		form   url.Values
		status int
		has    string
	}{
		{"vic", url.Values{"text": {"hi"}}, http.StatusForbidden, "needs the role run"},
		{"ann", url.Values{"text": {" "}}, http.StatusUnprocessableEntity, "write a message"},
	} {
		if _, status, body := p.submit(c.client, "/chat/desk", c.form); status != c.status || !strings.Contains(body, c.has) {
			t.Errorf("%s %v: %d %s", c.client, c.form, status, body)
		}
	}
	form := url.Values{"path": {"x"}, "do": {"approve"}, "from": {"https://evil.example/chat/"}}
	if place, _, _ := p.submit("bea", "/runs/r-none/answer", form); strings.Contains(place, "evil") {
		t.Error(place)
	}
}

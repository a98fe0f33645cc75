package apitest_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/server/api"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/web"
)

// remembered are the pages of a world with three conversations.
func remembered(t *testing.T) *pages {
	t.Helper()
	archive, dir := goldentest.Txtar(t, "testdata/memories.txtar"), t.TempDir()
	archive.Extract(t, dir)
	w := newWorld(t, dir, manager.NewSlots(manager.Limits{Running: 8, RunningPerTenant: 8, Waiting: 8}))
	for id, question := range map[string]string{"chat/1": "What is a <b>Gopher</b>?", "chat/2": "And a crab?", "other": "100% of it"} {
		body, err := json.Marshal(map[string]string{"question": question, "memory_id": id})
		if err != nil {
			t.Fatal(err)
		}
		if res := w.do("ann", "POST", "/v1/agents/desk/runs", http.Header{"Prefer": {"wait=30"}}, string(body)); res.Code != http.StatusCreated && res.Code != http.StatusOK {
			t.Fatal(res.Code, res.Body)
		}
	}
	return &pages{w, web.New(web.Options{Access: w.access})}
}

// conversations returns the ids in a page of the list, sorted, and its cursor.
func (w *world) conversations(query string) (ids []string, next string) {
	w.t.Helper()
	res := w.do("vic", "GET", "/v1/memories"+query, nil, "")
	var list api.ConversationList
	if err := json.Unmarshal(res.Body.Bytes(), &list); err != nil || res.Code != http.StatusOK {
		w.t.Fatal(query, res.Code, res.Body)
	}
	for _, c := range list.Conversations {
		ids = append(ids, c.MemoryID)
	}
	slices.Sort(ids)
	return ids, list.Next
}

func TestConversationsAreFound(t *testing.T) {
	p := remembered(t)
	for query, want := range map[string][]string{
		"":                   {"chat/1", "chat/2", "other"},
		"?q=CHAT":            {"chat/1", "chat/2"},
		"?q=gopher":          {"chat/1"},
		"?q=hello":           {"chat/1", "chat/2", "other"}, // in answers
		"?q=100%25":          {"other"},
		"?q=nothing":         nil,
		"?agent=desk":        {"chat/1", "chat/2", "other"},
		"?limit=500":         {"chat/1", "chat/2", "other"},
		"?q=x&limit=1":       nil,
		"?q=crab&agent=desk": {"chat/2"},
	} {
		if got, _ := p.conversations(query); !slices.Equal(got, want) {
			t.Errorf("%s: %v", query, got)
		}
	}
	var all []string
	next := ""
	for range 3 {
		var ids []string
		if ids, next = p.conversations("?limit=1&cursor=" + url.QueryEscape(next)); len(ids) != 1 {
			t.Fatal(ids)
		}
		all = append(all, ids...)
	}
	slices.Sort(all)
	if !slices.Equal(all, []string{"chat/1", "chat/2", "other"}) || next != "" {
		t.Error(all, next)
	}
	if res := p.do("vic", "GET", "/v1/memories?cursor=x", nil, ""); res.Code != http.StatusBadRequest {
		t.Error(res.Code, res.Body)
	}
	if res := p.do("eve", "GET", "/v1/memories?q=gopher", nil, ""); strings.Contains(res.Body.String(), "chat/1") {
		t.Error(res.Body)
	}
}

// A conversation is found, read and deleted by an admin, who is asked before.
func TestConversationsAreBrowsed(t *testing.T) {
	p := remembered(t)
	if _, body := p.get("vic", "/conversations?q=gopher"); !strings.Contains(body, `href="/conversations/chat%2F1"`) || strings.Contains(body, "crab") || !strings.Contains(body, `value="gopher"`) {
		t.Error(body)
	}
	if _, body := p.get("vic", "/conversations?q=nothing"); !strings.Contains(body, "No conversation contains this text") {
		t.Error(body)
	}
	_, body := p.get("vic", "/conversations/chat%2F1")
	if !strings.Contains(body, "&lt;b&gt;Gopher") || !strings.Contains(body, `href="/v1/memories/chat%2F1" download`) || strings.Contains(body, "/delete") || !strings.Contains(body, "<h2>Runs</h2>") {
		t.Error(body)
	}
	if _, body := p.get("ann", "/conversations/chat%2F1"); !strings.Contains(body, `href="/chat/desk?c=chat%2f1">Continue with desk`) {
		t.Error(body)
	}
	for _, client := range []string{"vic", "ann"} {
		if status, _ := p.get(client, "/conversations/chat%2F1/delete"); status != http.StatusForbidden {
			t.Error(client, status)
		}
		if _, status, _ := p.submit(client, "/conversations/chat%2F1/delete", url.Values{"confirm": {"1"}}); status != http.StatusForbidden {
			t.Error(client, status)
		}
	}
	if status, body := p.get("root", "/conversations/chat%2F1/delete"); status != http.StatusOK || !strings.Contains(body, "Its 1 turn") {
		t.Error(status, body)
	}
	if _, status, _ := p.submit("root", "/conversations/chat%2F1/delete", url.Values{}); status != http.StatusUnprocessableEntity {
		t.Error(status)
	}
	if status, _ := p.get("root", "/conversations/chat%2F1"); status != http.StatusOK {
		t.Error("deleted without a confirmation")
	}
	if next, status, body := p.submit("root", "/conversations/chat%2F1/delete", url.Values{"confirm": {"1"}}); next != "/conversations" {
		t.Error(status, body)
	}
	if status, _ := p.get("root", "/conversations/chat%2F1"); status != http.StatusNotFound {
		t.Error(status)
	}
	if got, _ := p.conversations(""); !slices.Equal(got, []string{"chat/2", "other"}) {
		t.Error(got)
	}
}

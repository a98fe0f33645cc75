package apitest_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/server/api"
)

// usageOf returns the history of GET /v1/usage, without what differs between runs.
func (w *world) usageOf(client, query string) []string {
	w.t.Helper()
	res := w.do(client, "GET", "/v1/usage"+query, nil, "")
	var u api.Usage
	if err := json.Unmarshal(res.Body.Bytes(), &u); err != nil || res.Code != http.StatusOK {
		w.t.Fatal(res.Code, res.Body, err)
	}
	out := []string{}
	for _, p := range u.History {
		if p.P95 < p.P50 || p.Start.After(time.Now()) {
			w.t.Errorf("%+v", p)
		}
		out = append(out, strings.Repeat("+", p.Runs)+strings.Repeat("!", p.Failed)+" "+p.Agent)
	}
	return out
}

// The history of the usage has the runs that the client may view, and the page of the usage shows it.
func TestUsageOverTime(t *testing.T) {
	p := newPages(t)
	if _, body := p.get("ann", "/usage"); !strings.Contains(body, "No runs in this time") {
		t.Error(body)
	}
	for range 2 {
		next, _, _ := p.submit("ann", "/agents/hello", url.Values{"question": {"Hi"}})
		p.await(strings.TrimPrefix(next, "/runs/"))
	}
	next, _, _ := p.submit("ann", "/agents/desk", url.Values{"question": {"canary"}})
	p.await(strings.TrimPrefix(next, "/runs/"))
	for query, want := range map[string][]string{
		"":                                   {},
		"?by=day":                            {"+ desk", "++ hello"},
		"?by=week":                           {"+ desk", "++ hello"},
		"?by=day&agent=hello":                {"++ hello"},
		"?by=day&agent=none":                 {},
		"?by=day&until=2020-01-01T00:00:00Z": {},
		"?by=day&since=2020-01-01T00:00:00Z": {"+ desk", "++ hello"},
	} {
		if d := cmp.Diff(want, p.usageOf("ann", query)); d != "" {
			t.Errorf("%s: %s", query, d)
		}
	}
	if got := p.usageOf("eve", "?by=day"); len(got) > 0 {
		t.Errorf("another tenant: %v", got)
	}
	for _, query := range []string{"?by=year", "?by=day&since=yesterday"} {
		if res := p.do("ann", "GET", "/v1/usage"+query, nil, ""); res.Code != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", query, res.Code)
		}
	}

	for _, c := range []struct {
		client, path string
		status       int
		has          string
	}{
		{"ann", "/usage", http.StatusOK, `<section class="chart" data-unit="count"><h2>Runs</h2>`},
		{"ann", "/usage?span=26w&agent=hello", http.StatusOK, `<option value="26w" selected>`},
		{"ann", "/usage?span=no", http.StatusOK, `<option value="30d" selected>`},
		{"eve", "/usage", http.StatusOK, "No runs in this time"},
		{"none", "/usage", http.StatusForbidden, "needs the role view"},
	} {
		status, body := p.get(c.client, c.path)
		if status != c.status || !strings.Contains(body, c.has) {
			t.Errorf("%s %s: %d %s", c.client, c.path, status, body)
		}
	}
	_, body := p.get("ann", "/usage?agent=hello")
	if strings.Count(body, `<th scope="col" class="num" data-series>hello</th>`) == 0 || strings.Contains(body, "data-series>desk") || !strings.Contains(body, "uplot-") {
		t.Error(body)
	}
	if _, body := p.get("ann", "/"); strings.Contains(body, "uplot-") {
		t.Error("a page without charts loads uPlot")
	}
}

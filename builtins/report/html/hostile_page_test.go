//go:build e2e

package html_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/pexctl/pex/builtins/report/html"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
	"github.com/pexctl/pex/internal/browsertest"
)

// hostileWorld returns a report with one case per payload, which is in all of its texts,
// and with worst in all texts of the report.
func hostileWorld(all []string, worst string) (*report.Report, trial.Rows) {
	rep, _ := poisoned(worst)
	var lines []report.CaseStats
	for _, p := range all {
		r, row := poisoned(p)
		line := r.Cases.At(0)
		lines = append(lines, line)
		line.Variant = "other"
		lines = append(lines, line)
		rep.Quarantined = append(rep.Quarantined, row.Case)
	}
	rep.Cases = report.CasesOf(lines...)
	return rep, func() iter.Seq2[*trial.Row, error] {
		return func(yield func(*trial.Row, error) bool) {
			for _, p := range all {
				_, row := poisoned(p)
				_, other := poisoned(p)
				other.Variant, other.Outcome, other.Run.Response = "other", trial.Failed, p+" "+p
				if !yield(row, nil) || !yield(other, nil) {
					return
				}
			}
		}
	}
}

// foreignMarkup returns elements, attributes and links that the page does not have by itself,
// which the data must have created.
const foreignMarkup = `(() => {
  const tags = new Set("html head meta title style body noscript a main div header section article script h1 h2 h3 h5 p span strong b dl dt dd code pre mark details summary table thead tbody tr th td form label input select option button nav figure figcaption svg line circle rect g i ul li".split(" "));
  const found = [];
  for (const e of document.querySelectorAll(document.getElementById("overview").hidden ? "body, #opened, #opened *" : "*")) {
    if (!tags.has(e.localName) && !(e.localName === "title" && e.closest("svg"))) found.push("element " + e.localName);
    for (const a of e.attributes) {
      if (/^on|^style$|^src|^srcdoc$|^action$|^formaction$|^ping$|^data$/i.test(a.name)) found.push(e.localName + " " + a.name);
      if (/href$/i.test(a.name) && !a.value.startsWith("#")) found.push("link " + a.value);
    }
  }
  return found;
})()`

// wantInert checks that no code ran, nothing was requested and no policy was violated. A
// dialog fails the test immediately.
func wantInert(t *testing.T, b *browsertest.Tab, where string) {
	t.Helper()
	var ran bool
	if b.Eval(`window.__xss !== undefined`, &ran); ran {
		t.Errorf("%s: a payload ran", where)
	}
	var found []string
	if b.Eval(foreignMarkup, &found); len(found) > 0 {
		t.Errorf("%s: %s", where, found)
	}
	if n := b.Requests(); len(n) > 1 {
		t.Errorf("%s: requests: %s", where, n)
	}
	if f := b.Faults(); f != "" {
		t.Errorf("%s: %s", where, f)
	}
}

func TestE2EHostileTextIsInert(t *testing.T) {
	all := payloads()
	b := browsertest.Open(t, "file://", 1280, 900)
	report, rows := hostileWorld(all, `</script><img src=x onerror="window.__xss=1;alert(1)">`)
	open(b, writtenURL(t, report, rows))
	wantInert(t, b, "the table")
	for i := 50; i < 2*len(all); i += 50 {
		b.Eval(`document.querySelector("#pages button:last-child").click()`, nil)
		wantInert(t, b, fmt.Sprint("the table from line ", i))
	}
	for i, p := range all {
		openAll(t, b, i, p)
		if t.Failed() {
			return
		}
	}
}

// openAll opens the case of a payload, alone and in comparison, expands everything and
// clicks everything clickable.
func openAll(t *testing.T, b *browsertest.Tab, i int, payload string) {
	t.Helper()
	id, err := json.Marshal(asText(payload))
	if err != nil {
		t.Fatal(err)
	}
	for _, with := range []string{"", "other"} {
		b.Eval(fmt.Sprintf(`(() => {
			const q = new URLSearchParams({case: %s, variant: %s, with: %q});
			location.hash = q.toString();
			dispatchEvent(new HashChangeEvent("hashchange"));
			document.querySelectorAll("#opened details").forEach((d) => { d.open = true; });
			document.querySelectorAll("#opened :not(a)").forEach((e) => { e.click(); e.dispatchEvent(new PointerEvent("pointerenter")); });
		})()`, id, id, with), nil)
		wantInert(t, b, fmt.Sprintf("payload %d (%.60q) with %q", i, payload, with))
	}
	if payload == "" {
		return // a case without a name has no link
	}
	shown := fmt.Sprintf(`(() => {
		const show = (s) => s.replace(/‹U\+([0-9A-F]+)›/g, (_, hex) => String.fromCodePoint(parseInt(hex, 16)));
		return [...document.querySelectorAll("#opened pre")].filter((p) => show(p.textContent) === %s.replace(/\r\n/g, "\n")).length;
	})()`, id)
	var times int
	if b.Eval(shown, &times); times == 0 {
		t.Errorf("payload %d (%.60q) is not shown", i, payload)
	}
}

// A served page requests nothing but itself.
func TestE2EServedPageRequestsNothingElse(t *testing.T) {
	report, rows := hostileWorld(payloads(), `<img src=/pixel onerror="window.__xss=1">`)
	var page bytes.Buffer
	if err := html.Write(&page, report, rows); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.URL.Path)
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path == "/report" {
			_, _ = page.WriteTo(w) // the checks below detect a closed connection
		}
	}))
	defer server.Close()
	b := browsertest.Open(t, server.URL, 1280, 900)
	open(b, server.URL+"/report")
	wantInert(t, b, "served")
	mu.Lock()
	defer mu.Unlock()
	if got := strings.Join(asked, " "); got != "/report" {
		t.Errorf("requested %s", got)
	}
}

//go:build e2e

package html_test

import (
	"fmt"
	"testing"

	"github.com/pexctl/pex/internal/browsertest"
)

// operations are the operations of a user on the table, as JavaScript.
var operations = map[string]string{
	"sort by text":      `document.querySelector("#by-case button").click()`,
	"sort by figure":    `document.querySelector("#by-latency button").click()`,
	"search":            `(f => { f.value = "order 12"; f.dispatchEvent(new Event("input")); })(document.getElementById("find"))`,
	"search of nothing": `(f => { f.value = ""; f.dispatchEvent(new Event("input")); })(document.getElementById("find"))`,
	"filter":            `(s => { s.value = s.value === "" ? "1" : ""; s.dispatchEvent(new Event("change")); })(document.getElementById("only-group"))`,
	"next page":         `document.querySelector("#pages button:last-child").click()`,
}

// Times are measured from the event until the page is laid out again. Other load on the
// machine can only increase them, so the best of several runs counts.
func TestE2EFiveThousandRowsStayFast(t *testing.T) {
	b, w := browsertest.Open(t, "file://", 1280, 900), newWorld(2500) // 5,000 rows, 15,000 trials
	url := writtenURL(t, w.report, w.rows)
	best := map[string]float64{}
	note := func(name string, ms float64) {
		if was, ok := best[name]; !ok || ms < was {
			best[name] = ms
		}
	}
	for range 3 {
		open(b, url)
		note("first paint", paint(b))
		note("table is there", entry(b, `performance.getEntriesByName("ready")[0].startTime`))
	}
	for name, source := range operations {
		for range 8 {
			note(name, entry(b, fmt.Sprintf(`(() => { const t = performance.now(); %s; document.body.offsetHeight; return performance.now() - t; })()`, source)))
		}
	}
	note("open a case", entry(b, `new Promise((done) => { const t = performance.now(); addEventListener("hashchange", () => { document.body.offsetHeight; done(performance.now() - t); }, {once: true}); location.hash = "case=case-02100&variant=large&trial=1&with=small"; })`))
	b.Await(`!document.getElementById("opened").hidden`)
	for name, ms := range best {
		most := 100.0
		if name == "first paint" {
			most = 1000
		}
		if t.Logf("%-18s %6.1f ms", name, ms); ms > most && name != "table is there" {
			t.Errorf("%s took %.0f ms", name, ms)
		}
	}
	b.Shoot("report-five-thousand")
}

func entry(b *browsertest.Tab, source string) float64 {
	var ms float64
	b.Eval(source, &ms)
	return ms
}

// paint returns the time of the first contentful paint.
func paint(b *browsertest.Tab) float64 {
	return entry(b, `new Promise((done) => { new PerformanceObserver((list) => { for (const e of list.getEntriesByName("first-contentful-paint")) done(e.startTime); }).observe({type: "paint", buffered: true}); })`)
}

package runpage_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/runview"
	"github.com/pexctl/pex/internal/app/runpage"
)

var versionOf = regexp.MustCompile(`<div class="(?:part|chunk|chunk full)" id="([^"]+)" data-v="([^"]+)">`)

func live(t *testing.T, v *runview.View, have map[string]bool) string {
	t.Helper()
	l := &runpage.Live{Have: have, CallURL: func(path string) string { return "/calls/" + path }}
	body, err := l.Body(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// long returns a run with a step of n tool calls.
func long(n int) *runview.View {
	v := refund()
	g := &v.Groups[1]
	g.Items = nil
	for i := range n {
		g.Items = append(g.Items, runview.Item{ID: fmt.Sprint("c", 10+i), Kind: runview.ToolItem, Path: fmt.Sprint("step.s1/turn.", i), Name: "refund", FromMS: float64(i), ToMS: float64(i) + 0.5, Done: true, Status: "ok", Text: "paid"})
	}
	g.ToMS = float64(n)
	return v
}

// A reader who has the parts of a page receives only those that have changed since.
func TestALivePageHasOnlyWhatIsNew(t *testing.T) {
	v := long(200)
	have := map[string]bool{}
	before := versionOf.FindAllStringSubmatch(live(t, v, nil), -1)
	for _, m := range before {
		have[m[2]] = true
	}
	if again := live(t, v, have); len(again) > 2000 || strings.Contains(again, "refund") {
		t.Errorf("the same run takes %d bytes", len(again))
	}
	v.Groups[1].Items[120].Status = "error"
	changed := live(t, v, have)
	if n := strings.Count(changed, "<details"); n != 50 || !strings.Contains(changed, `id="i-c130"`) || strings.Contains(changed, "<h1>") {
		t.Errorf("%d rows: %.500s", n, changed)
	}
	if after := versionOf.FindAllStringSubmatch(changed, -1); len(after) != len(before) {
		t.Errorf("%d parts, then %d", len(before), len(after))
	}
}

// The content of a call is on its own page.
func TestALivePageLinksToItsCalls(t *testing.T) {
	page := live(t, refund(), nil)
	if !strings.Contains(page, `<a href="/calls/">Show the call</a>`) || strings.Contains(page, "HTTP 500</pre>") {
		t.Error(page)
	}
	it := refund().Groups[1].Items[0]
	body, err := runpage.CallBody(&it)
	if err != nil || !strings.Contains(string(body), "Original arguments") || runpage.CallName(&it) != "refund" {
		t.Error(body, err)
	}
}

// Calls that are too short to be drawn apart share a bar.
func TestShortCallsShareABar(t *testing.T) {
	page := write(t, long(2000))
	if n := strings.Count(page, `<rect class="tool"`); n > 300 || !strings.Contains(page, "8 calls from here: tool") {
		t.Errorf("%d bars", n)
	}
}

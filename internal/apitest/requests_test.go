package apitest_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/server/manager"
)

// Each archive has specs, requests, and the responses to them. A request is a line with
// client, method and target, then headers, and after an empty line the body. Requests are
// separated by ---. "await RUN" waits for a run, "damage RUN" changes a byte of its
// journal, and "fails" waits for a failed webhook.
func TestResponses(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive := goldentest.Txtar(t, file)
			dir := t.TempDir()
			archive.Extract(t, dir)
			w := newWorld(t, dir, manager.NewSlots(manager.Limits{Running: 8, RunningPerTenant: 8, Waiting: 8}))
			var out strings.Builder
			for request := range strings.SplitSeq(archive.Input(t, "requests"), "---\n") {
				out.WriteString(w.exchange(request))
			}
			archive.Want(t, "responses", out.String())
		})
	}
}

// exchange performs a request of an archive, and returns it with its response.
func (w *world) exchange(request string) string {
	head, body, _ := strings.Cut(strings.TrimSpace(request), "\n\n")
	first, headers, _ := strings.Cut(head, "\n")
	for strings.HasPrefix(first, "#") {
		first, headers, _ = strings.Cut(headers, "\n")
	}
	words := strings.Fields(first)
	switch words[0] {
	case "await":
		w.await(words[1])
		return ""
	case "damage":
		w.damage(words[1])
		return ""
	case "fails":
		for w.tenants[""].Webhooks.List()[0].LastError == nil && w.t.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
		return ""
	}
	header := http.Header{}
	for line := range strings.Lines(headers) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		header.Add(name, value)
	}
	response := w.do(words[0], words[1], words[2], header, unquote(body))
	return "> " + strings.ReplaceAll(strings.TrimSpace(head), "\n", "\n> ") + "\n" + format(response) + "\n"
}

// unquote replaces names of bytes that a text file cannot contain.
func unquote(body string) string {
	return strings.NewReplacer("<NUL>", "\x00", "<FF>", "\xff", "<DEEP>", strings.Repeat("[", 10_000)+strings.Repeat("]", 10_000),
		"<CRLF>", "\r\n", "<LARGE>", strings.Repeat("a", 4097)).Replace(body)
}

// format returns a response without the parts that change.
func format(r *httptest.ResponseRecorder) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s\n", r.Code, http.StatusText(r.Code))
	for _, name := range slices.Sorted(maps.Keys(r.Header())) {
		if name != "Content-Length" && name != "Cache-Control" && name != "X-Content-Type-Options" && name != "X-Accel-Buffering" {
			fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(r.Header()[name], ", "))
		}
	}
	text := stable(r.Body.String())
	if r.Header().Get("Content-Type") == "image/svg+xml" {
		text = text[:len("<svg xmlns=")] + "..."
	}
	if strings.HasPrefix(r.Header().Get("Content-Type"), "text/html") {
		text = "a page"
	}
	if text != "" {
		b.WriteString("\n" + strings.TrimSuffix(text, "\n") + "\n")
	}
	return b.String()
}

var changing = []struct {
	pattern *regexp.Regexp
	stable  string
}{
	{regexp.MustCompile(`"20\d\d-\d\d-\d\dT[^"]*"`), `"TIME"`},
	{regexp.MustCompile(`(event: model\.delta\ndata: )?\{"v":1,"seq":0,.*\n\n?`), ""}, // which a client may miss
	{regexp.MustCompile(`,"(duration_ms|first_token_ms)":\d+`), ""},                   // an event omits 0
	{regexp.MustCompile(`("duration_ms": )\d+`), `${1}0`},
	{regexp.MustCompile(`("name": "duration",\s+"a": )"\w+"(,\s+"b": )"\w+"`), `${1}"SPAN"${2}"SPAN"`},
	{regexp.MustCompile(`"(at|latency|first_token)":\d+`), `"$1":0`},
	{regexp.MustCompile(`("bytes": )\d+`), `${1}0`},
	{regexp.MustCompile(`("receiver": )"[^"]*"`), `${1}"RECEIVER"`},
	{regexp.MustCompile(`"next": "[^"]*"`), `"next": "NEXT"`},
	{regexp.MustCompile(`"chain":"[0-9a-f]+"`), `"chain":"SUM"`},
}

// stable replaces times and checksums.
func stable(text string) string {
	for _, c := range changing {
		text = c.pattern.ReplaceAllString(text, c.stable)
	}
	return text
}

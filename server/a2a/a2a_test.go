package a2a_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/internal/accesstest"
	"github.com/pexctl/pex/server/a2a"
	"github.com/pexctl/pex/server/agents"
)

// Each archive has specs, requests, and the responses to them. A request is a line with
// client, method, path and headers, then a line with the body. <TASK1>, <CONTEXT1> and so on
// are the ids in the responses so far, in order.
func TestExchanges(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			archive := goldentest.Txtar(t, file)
			dir := t.TempDir()
			archive.Extract(t, dir)
			w := accesstest.New(t, dir, accesstest.Options{Definitions: func(d *agents.Definition) {
				if filepath.Base(d.Spec) == "hidden" {
					d.Expose = []string{"openai"}
				}
			}})
			x := &exchanges{world: w, handler: a2a.New(a2a.Options{Access: w.Access, MaxBody: 64 << 10}), ids: map[string][]string{}}
			var out strings.Builder
			for request := range strings.SplitSeq(archive.Input(t, "requests"), "---\n") {
				out.WriteString(x.exchange(t, request))
			}
			archive.Want(t, "responses", out.String())
		})
	}
}

// A card says that clients need a token, and has the URL that the client used.
func TestCardsOfServersWithTokens(t *testing.T) {
	dir := t.TempDir()
	goldentest.Txtar(t, "testdata/tasks.txtar").Extract(t, dir)
	w := accesstest.New(t, dir, accesstest.Options{})
	h := a2a.New(a2a.Options{Access: w.Access, NeedToken: true})
	res := w.Do(h, a2a.Form(), "vic", http.MethodGet, "https://agents.example.com/.well-known/agent-card.json", "", http.Header{"X-Forwarded-Proto": {"https"}})
	var card struct {
		URL        string                       `json:"url"`
		Schemes    map[string]map[string]any    `json:"securitySchemes"`
		Security   []map[string][]string        `json:"security"`
		Required   []map[string]json.RawMessage `json:"securityRequirements"`
		Interfaces []struct{ URL string }       `json:"supportedInterfaces"`
	}
	if err := json.Unmarshal(res.Body.Bytes(), &card); err != nil {
		t.Fatal(err, res.Body)
	}
	const url = "https://agents.example.com/a2a/hello"
	if card.URL != url || len(card.Interfaces) != 4 || card.Interfaces[0].URL != url || card.Schemes["bearer"]["scheme"] != "Bearer" || len(card.Security) != 1 || len(card.Required) != 1 {
		t.Error(res.Body)
	}
}

// exchanges are requests, and the ids that the responses to them have shown.
type exchanges struct {
	world   *accesstest.World
	handler http.Handler
	ids     map[string][]string // by kind
}

func (x *exchanges) exchange(t *testing.T, request string) string {
	title := ""
	if strings.HasPrefix(request, "#") {
		title, request, _ = strings.Cut(request, "\n")
		title += "\n"
	}
	head, body, _ := strings.Cut(strings.TrimSpace(request), "\n")
	words := strings.Fields(head)
	header := http.Header{}
	for _, word := range words[3:] {
		name, value, _ := strings.Cut(word, ":")
		header.Set(name, value)
	}
	before := x.world.Runs()
	res := x.world.Do(x.handler, a2a.Form(), words[0], words[1], x.known(words[2]), x.known(body), header)
	out := fmt.Sprintf("%s> %s\n%s", title, head, x.shown(res))
	if n := x.world.Runs() - before; n > 0 {
		out += fmt.Sprintf("(%d run started)\n", n)
	}
	if tasks := x.ids["TASK"]; len(tasks) > 0 {
		x.world.Tenant("").Manager.Await(t.Context(), tasks[len(tasks)-1]) // parks
	}
	return out + "\n"
}

// known replaces the names of ids.
func (x *exchanges) known(text string) string {
	text = strings.ReplaceAll(text, "<LARGE>", strings.Repeat("a", 64<<10))
	for kind, ids := range x.ids {
		for i, id := range ids {
			text = strings.ReplaceAll(text, fmt.Sprintf("<%s%d>", kind, i+1), id)
		}
	}
	return text
}

var kinds = []struct {
	kind    string
	pattern *regexp.Regexp
}{
	{"TASK", regexp.MustCompile(`\br-\d{8}-\d{6}-[0-9a-f]+|\bk-[a-z2-7]{26}`)},
	{"CONTEXT", regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)},
}

// changing are times and page tokens, eventIDs those of server-sent events.
var (
	changing = regexp.MustCompile(`("timestamp":|"nextPageToken":)"[^"]+"`)
	eventIDs = regexp.MustCompile(`(?m:^id: .*\n)`)
)

// shown returns a response with names instead of ids and times.
func (x *exchanges) shown(res *httptest.ResponseRecorder) string {
	text := changing.ReplaceAllString(eventIDs.ReplaceAllString(strings.TrimSpace(res.Body.String()), ""), `$1"..."`)
	for _, k := range kinds {
		text = k.pattern.ReplaceAllStringFunc(text, func(id string) string {
			for i, seen := range x.ids[k.kind] {
				if seen == id {
					return fmt.Sprintf("<%s%d>", k.kind, i+1)
				}
			}
			x.ids[k.kind] = append(x.ids[k.kind], id)
			return fmt.Sprintf("<%s%d>", k.kind, len(x.ids[k.kind]))
		})
	}
	return fmt.Sprintf("%d %s\n%s\n", res.Code, res.Header().Get("Content-Type"), strings.ReplaceAll(text, "\n\n", "\n"))
}

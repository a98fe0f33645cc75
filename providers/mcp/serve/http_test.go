package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/engine/tracecontext"
)

// exchange is a client that records its requests and their responses.
type exchange struct {
	t       *testing.T
	url     string
	version string
	session string
	user    string
	trace   string
	log     strings.Builder
}

func newExchange(t *testing.T, w *world, version string) *exchange {
	t.Helper()
	h := w.server(time.Second).Handler()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), userKey{}, user)))
	}))
	t.Cleanup(s.Close)
	return &exchange{t: t, url: s.URL, version: version, user: "ann"}
}

// send sends a message. The text of the response is in the log, one message per line.
func (e *exchange) send(body string) (status int, text string) {
	e.t.Helper()
	var message struct {
		Method string `json:"method"`
		Params struct {
			Name string `json:"name"`
			URI  string `json:"uri"`
		} `json:"params"`
	}
	_ = json.Unmarshal([]byte(body), &message) // some are invalid
	r, err := http.NewRequestWithContext(e.t.Context(), http.MethodPost, e.url, strings.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer " + e.user,
		"Mcp-Protocol-Version": e.version, "Mcp-Session-Id": e.session, "Traceparent": e.trace,
	} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	if e.version >= "2026-07-28" {
		r.Header.Set("Mcp-Method", message.Method)
		if name := message.Params.Name + message.Params.URI; name != "" {
			r.Header.Set("Mcp-Name", name)
		}
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		e.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		e.session = id
	}
	fmt.Fprintf(&e.log, ">>> %s\n<<< %d %s\n", body, res.StatusCode, res.Header.Get("Content-Type"))
	for line := range bytes.Lines(b) {
		if line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("data: "))); len(line) > 0 && !bytes.HasPrefix(line, []byte("event:")) && !bytes.HasPrefix(line, []byte("id:")) {
			fmt.Fprintf(&e.log, "%s\n", line)
		}
	}
	e.log.WriteString("\n")
	return res.StatusCode, string(b)
}

const newMeta = `"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"}, ` +
	`"io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}}`

// A client of protocol 2025-11-25 over HTTP.
func TestASession(t *testing.T) {
	e := newExchange(t, newWorld(t), "")
	e.send(`{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}`)
	e.version = "2025-11-25"
	e.send(`{"jsonrpc": "2.0", "method": "notifications/initialized"}`)
	for i, request := range []string{
		`"method": "tools/list"`,
		`"method": "tools/call", "params": {"name": "hello", "arguments": {"question": "2+2"}, "_meta": {"progressToken": 7}}`,
		`"method": "tools/call", "params": {"name": "hello", "arguments": {"question":7}}`,
		`"method": "tools/call", "params": {"name": "nobody", "arguments": {}}`,
		`"method": "tools/call", "params": {"name": "refund"}`,
		`"method": "tools/call", "params": {"name": "run_answer", "arguments": {"run": "r-2", "path": "s1/tool.0.approval", "answer": "deny: too much"}}`,
		`"method": "tools/call", "params": {"name": "run_answer", "arguments": {"run": "r-2", "answer": "the old one"}}`,
		`"method": "tools/call", "params": {"name": "run_get", "arguments": {"run": "r-9"}}`,
		`"method": "tools/call", "params": {"name": "run_get", "arguments": {}}`,
		`"method": "tools/call", "params": {"name": "run_cancel", "arguments": {"run": "r-1"}}`,
		`"method": "resources/templates/list"`,
		`"method": "resources/read", "params": {"uri": "run://r-9"}`,
	} {
		e.send(fmt.Sprintf(`{"jsonrpc": "2.0", "id": %d, %s}`, i+2, request))
	}
	goldentest.File(t, "session.golden", normalized(e.log.String()))
}

// A run joins the trace of its own call, not that of the request that began the session.
func TestCallersOfASession(t *testing.T) {
	const first, second = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"
	w := newWorld(t)
	e := newExchange(t, w, "")
	e.trace = first
	e.send(`{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}`)
	e.version = "2025-11-25"
	e.send(`{"jsonrpc": "2.0", "method": "notifications/initialized"}`)
	call := `{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "hello", "arguments": {"question": "2+2"}%s}}`
	e.send(fmt.Sprintf(call, `, "_meta": {"traceparent": "`+second+`", "tracestate": "a=b"}`))
	e.send(fmt.Sprintf(call, `, "_meta": {"traceparent": "nonsense", "tracestate": "a=b"}`))
	e.send(fmt.Sprintf(call, `, "_meta": {"traceparent": 7}`))
	e.trace = ""
	e.send(fmt.Sprintf(call, ""))
	want := []tracecontext.Caller{{Parent: second, State: "a=b"}, {Parent: first}, {Parent: first}, {}}
	if !slices.Equal(w.callers, want) {
		t.Errorf("callers %v, want %v", w.callers, want)
	}
}

// A client of protocol 2026-07-28 over HTTP: a question is a result, and the client calls again
// with the answers.
func TestWithoutSessions(t *testing.T) {
	w := newWorld(t)
	e := newExchange(t, w, "2026-07-28")
	e.send(`{"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {` + newMeta + `}}`)
	_, text := e.send(`{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "refund", "arguments": {}, ` + newMeta + `}}`)
	state := regexp.MustCompile(`"requestState":"([^"]+)"`).FindStringSubmatch(text)
	if state == nil {
		t.Fatal(text)
	}
	again := func(id int, state, responses string) {
		e.send(fmt.Sprintf(`{"jsonrpc": "2.0", "id": %d, "method": "tools/call", "params": {"name": "refund", "requestState": %q, "inputResponses": %s, %s}}`, id, state, responses, newMeta))
	}
	again(3, state[1], `{"s1/tool.0.approval": {"action": "accept", "content": {"decision": "edit", "edited": "{\"amount\": 50}"}}}`)
	again(4, state[1], `{"s2/tool.0": {"action": "cancel"}}`)
	again(5, state[1], `{"s2/tool.0": {"action": "accept", "content": {"answer": "the old one"}}}`)
	again(6, state[1], `{}`)
	again(7, "e30", `{}`)
	goldentest.File(t, "sessionless.golden", normalized(e.log.String()))
	if got := strings.Join(w.answers, "\n"); got != "s1/tool.0.approval=edit:{\"amount\": 50}\ns2/tool.0=the old one" {
		t.Error(got)
	}
}

// normalized replaces what differs between runs of a test.
func normalized(log string) string {
	return regexp.MustCompile(`"requestState":"[^"]*"`).ReplaceAllString(log, `"requestState":"STATE"`)
}

// Another client cannot use a session, and each request has the identity of its own client.
func TestSessionsBelongToTheirClient(t *testing.T) {
	w := newWorld(t)
	e := newExchange(t, w, "")
	e.send(`{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}`)
	e.send(`{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}`)
	e.user = "eve"
	if status, text := e.send(`{"jsonrpc": "2.0", "id": 3, "method": "tools/list"}`); status != http.StatusForbidden {
		t.Error(status, text)
	}
	if len(w.users) != 1 || w.users[0] != "ann" {
		t.Error(w.users)
	}
}

// A client that opens many sessions leaves some for others.
func TestSessionsOfAClientAreLimited(t *testing.T) {
	e := newExchange(t, newWorld(t), "")
	open := func(user string) int {
		e.session, e.user = "", user
		status, _ := e.send(`{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}`)
		return status
	}
	n := 0
	for ; n < 1000 && open("ann") == http.StatusOK; n++ {
	}
	if n != 250 {
		t.Errorf("%d sessions", n)
	}
	if status := open("bob"); status != http.StatusOK {
		t.Errorf("another client: %d", status)
	}
}

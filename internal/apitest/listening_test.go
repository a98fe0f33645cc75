package apitest_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/server"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/manager"
)

// listening is a world behind the whole server: listener, limits, tokens and access log.
type listening struct {
	*world
	scheme  string
	address string
	client  *http.Client
	reused  bool // whether the last request used the connection of an earlier one
}

// token is the secret of a client's token.
func token(client string) string { return "pex_" + strings.Repeat("0", 32) + client }

// hashOf returns the hash of a client's token.
func hashOf(client string) string {
	sum := sha256.Sum256([]byte(token(client)))
	return hex.EncodeToString(sum[:])
}

// listen starts a server with the agents of a project.
func listen(t testing.TB, project string, slots manager.Limits, o server.Options, change func(*manager.Options)) *listening {
	t.Helper()
	archive, dir := goldentest.Txtar(t, "testdata/projects/"+project+".txtar"), t.TempDir()
	archive.Extract(t, dir)
	l := &listening{world: newWorldWith(t, dir, manager.NewSlots(slots), change), scheme: "http"}
	var all []auth.Token
	for name, id := range clients {
		all = append(all, auth.Token{Name: name, SHA256: hashOf(name), Tenant: id.Tenant, Roles: id.Roles})
	}
	tokens, err := auth.NewTokens(all)
	if err != nil {
		t.Fatal(err)
	}
	guard, err := auth.New(auth.Options{Tokens: tokens, Tenants: []string{"", "other"}})
	if err != nil {
		t.Fatal(err)
	}
	o.Routes = []server.Route{l.mcpRoute()}
	o.Handler, o.Auth, o.Streams, o.Log = l.handler, guard, l.streams, slog.New(slog.NewTextHandler(l.log, nil))
	s, err := server.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, ln) }()
	l.address, l.client = ln.Addr().String(), &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		l.client.CloseIdleConnections()
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l
}

// answer is a response to a request over the network.
type answer struct {
	*http.Response
	body string
}

// member returns a member of the JSON object in the body, as text.
func (a answer) member(name string) string {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(a.body), &members) != nil {
		return ""
	}
	return strings.Trim(string(members[name]), `"`)
}

// send sends a request of a client. headers are names and values.
func (l *listening) send(client, method, path string, body io.Reader, headers ...string) answer {
	l.t.Helper()
	trace := &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { l.reused = c.Reused }}
	r, err := http.NewRequestWithContext(httptrace.WithClientTrace(l.t.Context(), trace), method, l.scheme+"://"+l.address+path, body)
	if err != nil {
		l.t.Fatal(err)
	}
	if client != "" {
		r.Header.Set("Authorization", "Bearer "+token(client))
	}
	for pair := range slices.Chunk(headers, 2) {
		r.Header.Set(pair[0], pair[1])
	}
	res, err := l.client.Do(r)
	if err != nil {
		l.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	return answer{res, string(b)}
}

// post starts a run.
func (l *listening) post(client, agent, body string, headers ...string) answer {
	l.t.Helper()
	return l.send(client, http.MethodPost, "/v1/agents/"+agent+"/runs", strings.NewReader(body), headers...)
}

func (l *listening) get(client, path string) answer {
	l.t.Helper()
	return l.send(client, http.MethodGet, path, nil)
}

// want checks the status, the code and the pointer of a problem.
func (l *listening) want(a answer, status int, code, pointer string) {
	l.t.Helper()
	if a.StatusCode != status || a.member("code") != code || a.member("pointer") != pointer {
		l.t.Errorf("%d %s %s, want %d %s %s: %.300s", a.StatusCode, a.member("code"), a.member("pointer"), status, code, pointer, a.body)
	}
}

// missing checks that a run does not exist.
func (l *listening) missing(run string) {
	l.t.Helper()
	if a := l.get("root", "/v1/runs/"+run); a.StatusCode != http.StatusNotFound {
		l.t.Errorf("run %s exists: %d", run, a.StatusCode)
	}
}

package opensearch_test

import (
	"context"
	"crypto/sha256"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/builtins/tool/opensearch"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/httpclient/guardtest"
)

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestAuthentication(t *testing.T) {
	c := newCluster(t, 200, `{}`)
	env := environment("URL", c.base, "WHO", "agent", "PASSWORD", "s3cret", "TOKEN", "tok")
	tests := []struct {
		name string
		auth opensearch.Auth
		want string // Authorization header, or an error
		ok   bool
	}{
		{"no auth", opensearch.Auth{}, "", true},
		{"basic", opensearch.Auth{Type: "basic", Username: template(t, "${env.WHO}"), PasswordEnv: "PASSWORD"}, "Basic YWdlbnQ6czNjcmV0", true},
		{"basic, written out", opensearch.Auth{Type: "basic", Username: template(t, "agent"), PasswordEnv: "PASSWORD"}, "Basic YWdlbnQ6czNjcmV0", true},
		{"bearer", opensearch.Auth{Type: "bearer", TokenEnv: "TOKEN"}, "Bearer tok", true},
		{"sigv4", opensearch.Auth{Type: "sigv4", Region: "eu-west-1", Service: "aoss"}, "signed for eu-west-1/aoss, SUM of /logs-1/_search", true},
		{"no password", opensearch.Auth{Type: "basic", Username: template(t, "agent"), PasswordEnv: "NONE"}, "the environment variable NONE is not set", false},
		{"no user", opensearch.Auth{Type: "basic", Username: template(t, "${env.NONE}"), PasswordEnv: "PASSWORD"}, "auth.username needs ${env.NONE}", false},
		{"no token", opensearch.Auth{Type: "bearer", TokenEnv: "NONE"}, "the environment variable NONE is not set", false},
		{"no credentials", opensearch.Auth{Type: "sigv4", Region: "nowhere", Service: "es"}, "sign the request to OpenSearch: no AWS credentials", false},
	}
	sign := func(_ context.Context, req *http.Request, sum, region, service string) error {
		if region == "nowhere" {
			return errors.New("no AWS credentials found")
		}
		req.Header.Set("Authorization", "signed for "+region+"/"+service+", "+sum+" of "+req.URL.Path)
		return nil
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tool, err := build(t, "opensearch_search", settings{url: "${env.URL}", auth: tt.auth}, tool.Settings{Env: env, UserAgent: "pex/9"}, sign)
			if err != nil {
				t.Fatal(err)
			}
			_, err = call(t, tool, args{"index": "logs-1", "query": "x"})
			got := c.take()
			switch {
			case !tt.ok && (err == nil || !strings.Contains(err.Error(), tt.want) || len(got) > 0):
				t.Errorf("error %v, asked %+v", err, got)
			case tt.ok && err != nil:
				t.Fatal(err)
			case tt.ok && (got[0].header.Get("Authorization") != strings.Replace(tt.want, "SUM", fmt.Sprintf("%x", sha256.Sum256([]byte(got[0].Body))), 1) || got[0].header.Get("User-Agent") != "pex/9"):
				t.Errorf("header %v", got[0].header)
			}
		})
	}
	unsigned, err := build(t, "opensearch_search", settings{url: c.base, auth: opensearch.Auth{Type: "sigv4"}}, tool.Settings{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	fails(t, unsigned, args{"index": "a", "query": "x"}, "no request signer")
}

func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  settings
		at   string
	}{
		{"no address", settings{url: "search.example.org:9200"}, "/url"},
		{"a user in it", settings{url: "https://admin:admin@search.example.org"}, "/url"},
		{"a query in it", settings{url: "https://search.example.org?pretty"}, "/url"},
		{"a list", settings{url: "https://a.example", indices: []string{"logs-*", "a,b"}}, "/indices/1"},
		{"another sign", settings{url: "https://a.example", indices: []string{"logs-?"}}, "/indices/0"},
		{"no user", settings{url: "https://a.example", auth: opensearch.Auth{Type: "basic", PasswordEnv: "P"}}, "/auth/username"},
		{"no password", settings{url: "https://a.example", auth: opensearch.Auth{Type: "basic", Username: template(t, "u")}}, "/auth/password_env"},
		{"a password as it is", settings{url: "https://a.example", auth: opensearch.Auth{Type: "basic", Username: template(t, "u"), PasswordEnv: "p@ss"}}, "/auth/password_env"},
		{"no token", settings{url: "https://a.example", auth: opensearch.Auth{Type: "bearer"}}, "/auth/token_env"},
		{"a token without auth", settings{url: "https://a.example", auth: opensearch.Auth{Type: "none", TokenEnv: "T"}}, "/auth/token_env"},
		{"a region without auth", settings{url: "https://a.example", auth: opensearch.Auth{Type: "none", Region: "eu-west-1"}}, "/auth/region"},
	} {
		for name := range names {
			_, err := build(t, name, tt.set, tool.Settings{}, nil)
			if faults, ok := errors.AsType[component.Faults](err); !ok || faults[0].At != tt.at {
				t.Errorf("%s, %s: %v", tt.name, name, err)
			}
		}
	}
	for name := range names {
		if _, err := build(t, name, settings{url: "${env.URL}/x"}, tool.Settings{}, nil); err != nil {
			t.Errorf("a URL from the environment is checked by calls only: %v", err)
		}
	}
}

// Only the author's URL is called, and private addresses only if explicitly allowed.
func TestPrivateAddressesAreUnreachable(t *testing.T) {
	guardtest.ResolveInside(t)
	for name, with := range names {
		for _, at := range []string{"http://cluster.example.com", "http://cluster.example.com:9200", "https://127.0.0.1.nip.io", "http://metadata.google.internal"} {
			tool := newTool(t, name, settings{url: at})
			fails(t, tool, with("logs-1"), "which is not a public address")
		}
		open := newTool(t, name, settings{url: "http://cluster.example.com:1", private: true})
		fails(t, open, with("logs-1"), "refused")
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	inside := newCluster(t, 200, `{}`)
	for _, status := range []int{301, 302, 307, 308} {
		s := httptest.NewServer(http.RedirectHandler(inside.base, status))
		for name, with := range names {
			tool, err := build(t, name, settings{url: s.URL, auth: opensearch.Auth{Type: "bearer", TokenEnv: "TOKEN"}}, tool.Settings{Env: environment("TOKEN", "tok")}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if out, err := call(t, tool, with("logs-1")); err == nil || len(inside.take()) > 0 {
				t.Errorf("%s followed %d: %+v", name, status, out)
			}
		}
		s.Close()
	}
}

func TestErrorResponses(t *testing.T) {
	const rooted = `{"error":{"root_cause":[{"type":"TYPE","reason":"REASON","index":"logs-9"}],"type":"TYPE","reason":"REASON","index":"logs-9"},"status":400}`
	as := func(typ, reason string) string {
		return strings.NewReplacer("TYPE", typ, "REASON", reason).Replace(rooted)
	}
	for _, tt := range []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{"no such index", 404, as("index_not_found_exception", "no such index [logs-9]"), `index "logs-9" does not exist; list the indices`},
		{"a closed one", 400, as("index_closed_exception", "closed"), "the index is closed: closed"},
		{"a bad query", 400, as("parsing_exception", "unknown query [mach] did you mean [match]?"), "cannot run the query: unknown query [mach] did you mean [match]?; check the index mapping and fix the query"},
		{
			"a cause behind", 400,
			`{"error":{"root_cause":[{"type":"query_shard_exception","reason":"failed to create query"}],"type":"search_phase_execution_exception","reason":"all shards failed","caused_by":{"type":"a","reason":"b","caused_by":{"type":"number_format_exception","reason":"For input string: \"x\""}}},"status":400}`,
			`failed to create query: For input string: "x"`,
		},
		{
			"a failed shard", 400,
			`{"error":{"root_cause":[],"type":"search_phase_execution_exception","reason":"all shards failed","failed_shards":[{"shard":0,"reason":{"type":"illegal_argument_exception","reason":"Fielddata is disabled"}}]},"status":400}`,
			"Fielddata is disabled",
		},
		{"no credentials", 401, "Unauthorized", "authentication failed (401 Unauthorized): Unauthorized"},
		{"not allowed", 403, as("security_exception", "no permissions for [indices:data/read/search] and User [name=agent]"), "denied access (403 Forbidden): no permissions for [indices:data/read/search]"},
		{"of AWS", 403, `{"Message":"User: anonymous is not authorized to perform: es:ESHttpPost"}`, "denied access (403 Forbidden): User: anonymous"},
		{"busy", 429, as("rejected_execution_exception", "queue full"), "is busy (429 Too Many Requests): queue full; try again later"},
		{"a text", 400, `{"error":"no handler found for uri","status":400}`, "400 Bad Request: no handler found for uri"},
		{"broken", 500, "<html>" + strings.Repeat("x", 5000), "500 Internal Server Error: <html>"},
		{"nothing said", 502, "", "502 Bad Gateway"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tool := newTool(t, "opensearch_search", settings{url: newCluster(t, tt.status, tt.body).base})
			_, err := call(t, tool, args{"index": "logs-9", "query": "x"})
			if err == nil || !strings.Contains(err.Error(), tt.want) || len(err.Error()) > 1200 {
				t.Errorf("error %v", err)
			}
		})
	}
	for name, with := range names {
		fails(t, newTool(t, name, settings{url: newCluster(t, 200, "no JSON").base}), with("logs-1"), "decode OpenSearch's ")
	}
}

// PEX_CA_FILE applies to the cluster, as to model servers.
func TestCAFile(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{}`) }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{ca: "", "": "certificate", "/nowhere.pem": "PEX_CA_FILE"} {
		tool, err := build(t, "opensearch_search", settings{url: s.URL}, tool.Settings{Env: environment("PEX_CA_FILE", path)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = call(t, tool, args{"index": "a", "query": "x"})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("with %q: %v", path, err)
		}
	}
}

func TestCallsStopWithTheirContext(t *testing.T) {
	begun, end := make(chan struct{}, len(names)), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		begun <- struct{}{}
		<-end
	}))
	t.Cleanup(func() { close(end); s.Close() })
	for name := range names {
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-begun; cancel() }()
		started := time.Now()
		raw := map[string]string{"opensearch_list_index": `{}`, "opensearch_index_mapping": `{"index":"a"}`, "opensearch_search": `{"index":"a","query":"x"}`}[name]
		_, err := newTool(t, name, settings{url: s.URL}).Call(ctx, &tool.Call{Args: []byte(raw)})
		if !errors.Is(err, context.Canceled) || time.Since(started) > 20*time.Second {
			t.Errorf("%s: %v after %v", name, err, time.Since(started))
		}
	}
}

func TestOffline(t *testing.T) {
	c := newCluster(t, 200, `{}`)
	tool, err := build(t, "opensearch_search", settings{url: c.base}, tool.Settings{Name: "find", Description: "Finds.", Offline: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	fails(t, tool, args{"index": "a", "query": "x"}, "give run.tools.find or a cassette")
	if info := tool.Info(); info.Name != "find" || info.Description != "Finds." || len(c.take()) > 0 {
		t.Errorf("info %+v", info)
	}
}

package dsl_test

import (
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/jsonschema"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/serverspec"
	"github.com/pexctl/pex/dsl/testspec"
)

const (
	serverHead = "apiVersion: pex/v1\nkind: Server\n"
	someHash   = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	tokenFile  = "apiVersion: pex/v1\nkind: Tokens\ntokens:\n  - {name: ci, sha256: " + someHash + ", roles: [run, view]}\n"
)

func TestServerHasItsDefaults(t *testing.T) {
	inFolder(t, map[string]string{"server.yaml": serverHead})
	got, found := dsl.LoadServer(".", options())
	if got == nil {
		t.Fatal(found)
	}
	want := &serverspec.Config{
		Listen: "127.0.0.1:8484", Tenants: serverspec.Tenants{Default: "shared", Known: []string{"shared"}},
		Limits:  serverspec.Limits{ConcurrentRuns: 64, QueuedRuns: 1000, Body: 1 << 20, Upload: 32 << 20, Header: 32 << 10, Watchers: 2000, Connections: 4096},
		MCPWait: 45 * time.Second, OpenAI: serverspec.OpenAI{Progress: "reasoning"}, OpenSearch: serverspec.OpenSearch{Register: true}, ParkAfter: 30 * time.Second, Grace: 10 * time.Second,
	}
	places := cmpopts.IgnoreFields(serverspec.Config{}, "File", "Dir", "Root", "Files", "ListenAt", "Position")
	if d := cmp.Diff(want, got, places); d != "" {
		t.Error(d)
	}
}

func TestServerIsCompiled(t *testing.T) {
	inFolder(t, map[string]string{
		"deploy/server.yaml": serverHead + `metadata: {name: desk, description: All agents.}
listen: 0.0.0.0:443
agents:
  refund: {spec: ../specs/refund, set: {limits.max_steps: 3}, roles: {run: [support], approve: [finance, admin]}, on_busy: cancel}
  again: {spec: ../specs/refund/spec.yaml}
auth: {tokens: {file: tokens.yaml}}
tenants: {default: main, known: [main, acme], header: X-Tenant-Id}
limits: {concurrent_runs: 4, queued_runs: 0, body: 64KiB, header: 1KiB, watchers: 3, connections: 7, per_tenant: {concurrent_runs: 2, runs_per_minute: 60, watchers: 2, cost_per_day: 2.5, keep_runs: 720h}}
cors: {origins: [https://chat.example.com, "http://localhost:3000"]}
mcp: {wait: 2m}
openai: {progress: text, trust_user_headers: true}
tls: {cert: ../tls/cert.pem, key: ../tls/key.pem}
notify:
  ops: {events: [interrupt.raised, run.completed], url: https://hooks.example.com/pex, secret_env: SECRET, agents: [refund], tenants: [acme], allow: [10.0.0.0/8]}
  audit: {events: [run.started], url_env: AUDIT_URL, secret_env: SECRET, headers_env: {Authorization: AUDIT_AUTH}}
opensearch: {register: false, endpoints: [http://127.0.0.1:11434/v1], env: [KEY], info: true}
park_after: 0s
grace: 1m
`,
		"deploy/tokens.yaml":     tokenFile + "  - {name: boss, sha256: " + strings.ToUpper(strings.Replace(someHash, "9", "8", 1)) + ", tenant: acme, roles: [finance, support]}\n",
		"specs/refund/spec.yaml": pricedSpec("{provider: scripted, options: {replies: [{text: x}]}}", ""),
		"tls/cert.pem":           "c", "tls/key.pem": "k", "pex.lock": "",
	})
	got, found := dsl.LoadServer("deploy", options())
	if got == nil || len(found) > 0 {
		t.Fatal(found)
	}
	root, err := filepath.EvalSymlinks(filepath.Dir(filepath.Dir(got.File)))
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	want := &serverspec.Config{
		File: in("deploy/server.yaml"), Dir: in("deploy"), Root: root,
		Files: []string{in("deploy/server.yaml"), in("deploy/tokens.yaml"), in("tls/cert.pem"), in("tls/key.pem")},
		Name:  "desk", Description: "All agents.", Listen: "0.0.0.0:443",
		Agents: []serverspec.Agent{
			{Name: "refund", Spec: in("specs/refund/spec.yaml"), Set: []string{"limits.max_steps=3"}, Roles: map[string][]string{"run": {"support"}, "approve": {"finance", "admin"}}, Expose: language.Protocols(), OnBusy: "cancel", AllowSet: []string{"limits.*", "llms.*.model"}},
			{Name: "again", Spec: in("specs/refund/spec.yaml"), Set: []string{}, Roles: map[string][]string{}, Expose: language.Protocols(), OnBusy: "queue", AllowSet: []string{"limits.*", "llms.*.model"}},
		},
		Auth: &serverspec.Auth{File: in("deploy/tokens.yaml"), Tokens: []serverspec.Token{
			{Name: "ci", SHA256: someHash, Tenant: "main", Roles: []string{"run", "view"}},
			{Name: "boss", SHA256: strings.Replace(someHash, "9", "8", 1), Tenant: "acme", Roles: []string{"finance", "support"}},
		}},
		Tenants:    serverspec.Tenants{Default: "main", Known: []string{"main", "acme"}, Header: "X-Tenant-Id"},
		Limits:     serverspec.Limits{ConcurrentRuns: 4, Body: 64 << 10, Upload: 32 << 20, Header: 1 << 10, Watchers: 3, Connections: 7, PerTenant: serverspec.PerTenant{ConcurrentRuns: 2, RunsPerMinute: 60, Watchers: 2, CostPerDay: 2.5, KeepRuns: 720 * time.Hour}},
		Origins:    []string{"https://chat.example.com", "http://localhost:3000"},
		TLS:        &serverspec.TLS{Cert: in("tls/cert.pem"), Key: in("tls/key.pem")},
		MCPWait:    2 * time.Minute,
		OpenAI:     serverspec.OpenAI{Progress: "text", TrustUserHeaders: true},
		OpenSearch: serverspec.OpenSearch{Endpoints: []string{"http://127.0.0.1:11434/v1"}, Env: []string{"KEY"}, Info: true},
		ParkAfter:  0, Grace: time.Minute,
		Webhooks: []serverspec.Webhook{
			{Name: "ops", Events: []string{"interrupt.raised", "run.completed"}, URL: "https://hooks.example.com/pex", SecretEnv: "SECRET", Agents: []string{"refund"}, Tenants: []string{"acme"}, Allow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}},
			{Name: "audit", Events: []string{"run.started"}, URLEnv: "AUDIT_URL", SecretEnv: "SECRET", HeadersEnv: map[string]string{"Authorization": "AUDIT_AUTH"}},
		},
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreTypes(testspec.Position{}), cmpopts.EquateComparable(netip.Prefix{})); d != "" {
		t.Error(d)
	}
	if got.ListenAt.Line != 4 || got.Agents[1].Position.Line != 7 || got.Auth.Tokens[1].Position.Line != 5 {
		t.Errorf("positions: %v %v %v", got.ListenAt, got.Agents[1].Position, got.Auth.Tokens[1].Position)
	}
}

// exampleOf returns the example of a page of the reference.
func exampleOf(t *testing.T, page string) string {
	t.Helper()
	for _, p := range jsonschema.Reference(catalog, checks) {
		if _, text, ok := strings.Cut(p.Keys, "```yaml\n"); p.Name == page && ok {
			text, _, _ = strings.Cut(text, "```")
			return text
		}
	}
	t.Fatal("no example for " + page)
	return ""
}

// TestExamplesOfTheReference: they compile without a diagnostic, match the schema, and are formatted.
func TestExamplesOfTheReference(t *testing.T) {
	spec := pricedSpec("{provider: scripted, options: {replies: [{text: x}]}}", "")
	files := map[string]string{
		"server.yaml": exampleOf(t, "server"), "tokens.yaml": exampleOf(t, "tokens"),
		"specs/refund-desk/spec.yaml": spec, "specs/log-triage/spec.yaml": spec, "cert.pem": "", "key.pem": "",
	}
	inFolder(t, files)
	s, found := dsl.LoadServer("server.yaml", options())
	if s == nil || len(found) > 0 {
		t.Fatal(found)
	}
	schema := specSchema(t)
	for _, name := range []string{"server.yaml", "tokens.yaml"} {
		if err := schema.Validate(decoded(t, name, files[name])); err != nil {
			t.Errorf("%s: %#v", name, err)
		}
		if got, found := dsl.Format([]byte(files[name])); string(got) != files[name] {
			t.Errorf("%s: %v\n%s", name, found, got)
		}
	}
}

// TestFilesOfServersOutsideTheRoot: certificates and tokens may be outside the project only with AllowPaths.
func TestFilesOfServersOutsideTheRoot(t *testing.T) {
	inFolder(t, map[string]string{
		"project/pex.lock": "", "etc/tokens.yaml": tokenFile, "etc/cert.pem": "", "etc/key.pem": "",
		"project/server.yaml": serverHead + "auth: {tokens: {file: ../etc/tokens.yaml}}\ntls: {cert: ../etc/cert.pem, key: ../etc/key.pem}\n",
	})
	if s, found := dsl.LoadServer("project", options()); s != nil || strings.Count(found.String(), "outside the project") != 3 {
		t.Error(found)
	}
	o := options()
	o.AllowPaths = []string{"etc"}
	s, found := dsl.LoadServer("project", o)
	if s == nil || len(s.Auth.Tokens) != 1 || filepath.Base(filepath.Dir(s.TLS.Key)) != "etc" {
		t.Error(found)
	}
	etc, err := filepath.Abs("etc")
	if err != nil {
		t.Fatal(err)
	}
	o.Set = []string{"auth.tokens.file=" + filepath.ToSlash(etc) + "/tokens.yaml"}
	if s, found := dsl.LoadServer("project", o); s == nil || len(s.Auth.Tokens) != 1 {
		t.Error(found)
	}
}

// TestAddressesOfServers: without auth, a server listens on a loopback address only.
func TestAddressesOfServers(t *testing.T) {
	const open = "accepts connections from other machines, and there is no auth"
	tests := []struct{ listen, message, hint string }{
		{"127.0.0.1:8484", "", ""},
		{"127.8.9.10:0", "", ""},
		{"localhost:65535", "", ""},
		{`"[::1]:8484"`, "", ""},
		{`"[::ffff:127.0.0.1]:8484"`, "", ""},
		{"0.0.0.0:8484", open, "or listen on 127.0.0.1:8484"},
		{`":80"`, open, "or listen on 127.0.0.1:80"},
		{`"[::]:80"`, open, "127.0.0.1:80"},
		{"192.168.1.2:80", open, ""},
		{"localhost.example.com:80", open, ""},
		{"0:80", open, ""},
		{"8484", "invalid address", "write 127.0.0.1:8484"},
		{"localhost", "invalid address", "add a port: localhost:8484"},
		{"http://localhost:8484", "invalid address", "write only host and port: localhost:8484"},
		{`"::1:8484"`, "invalid address", "in brackets: [::1]:8484"},
		{`"fe80::1"`, "invalid address", `in brackets: "[::1]:8484"`},
		{"localhost:65536", "invalid address", "write host:port: 127.0.0.1:8484"},
		{"localhost:http", "invalid address", "write host:port"},
		{"localhost:080", "invalid address", "write host:port"},
		{`""`, "invalid address", ""},
		{`"my host:80"`, "invalid address", ""},
		{"unix:/run/pex.sock", "invalid address", "write host:port"},
	}
	for _, tt := range tests {
		inFolder(t, map[string]string{"server.yaml": serverHead + "listen: " + tt.listen + "\n", "tokens.yaml": tokenFile})
		got, found := dsl.LoadServer("server.yaml", options())
		text := found.String()
		if (got == nil) != (tt.message != "") || !strings.Contains(text, tt.message) || !strings.Contains(text, tt.hint) {
			t.Errorf("%s: got %v\n%s", tt.listen, got != nil, text)
		}
		for name, o := range map[string]dsl.Options{"insecure": {Insecure: true}, "auth": {Set: []string{"auth.tokens.file=tokens.yaml"}}} {
			o.Catalog = catalog
			if s, found := dsl.LoadServer("server.yaml", o); (s == nil) != strings.HasPrefix(tt.message, "invalid") {
				t.Errorf("%s with %s: %v", tt.listen, name, found)
			}
		}
	}
}

// TestNoEmptyAuthIsNoAuth: a section auth in any form is an error or requires tokens.
func TestNoEmptyAuthIsNoAuth(t *testing.T) {
	for _, auth := range []string{
		"", "{}", "null", "~", "[]", "false", "''", "{tokens: }", "{tokens: {}}", "{tokens: {file: }}", "{tokens: {file: ''}}", "{tokens: {file: .}}",
		"{tokens: []}", "{token: }", "{token: abc}", "{token: abcdef, tokens: {}}", "{tokens: {file: empty.yaml}}", "{tokens: {file: none.yaml}}", "{tokens: {file: server.yaml}}",
		"{tokens: {file: tokens.txt}}", "{tokens: {file: .tokens.yaml}}",
	} {
		inFolder(t, map[string]string{
			"server.yaml": serverHead + "listen: 0.0.0.0:8484\nauth: " + auth + "\n", "empty.yaml": "", "tokens.txt": tokenFile, ".tokens.yaml": tokenFile,
			"none.yaml": "apiVersion: pex/v1\nkind: Tokens\ntokens: []\n",
		})
		if s, found := dsl.LoadServer("server.yaml", options()); s != nil {
			t.Errorf("auth: %s is accepted: %v", auth, found)
		}
	}
}

// TestOriginsHaveNoWildcards: a page of any site could use a local server.
func TestOriginsHaveNoWildcards(t *testing.T) {
	inFolder(t, map[string]string{"server.yaml": serverHead + "cors: {origins: ['*']}\n"})
	if s, _ := dsl.LoadServer("server.yaml", options()); s != nil {
		t.Error("accepted")
	}
}

func TestTokensAreLoadedAlone(t *testing.T) {
	inFolder(t, map[string]string{"tokens.yaml": tokenFile, "server.yaml": serverHead, "broken.yaml": tokenFile + "  - {name: ci, token: pex_1234, roles: [run]}\n"})
	got, found := dsl.LoadTokens("tokens.yaml", options())
	want := []serverspec.Token{{Name: "ci", SHA256: someHash, Roles: []string{"run", "view"}}}
	if d := cmp.Diff(want, got, cmpopts.IgnoreTypes(testspec.Position{})); d != "" {
		t.Error(d, found)
	}
	for _, name := range []string{"broken.yaml", "server.yaml", "gone.yaml"} {
		if got, found := dsl.LoadTokens(name, options()); got != nil || !found.Failed() {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestNoTokenIsShown: neither diagnostics nor vet --explain show a token.
func TestNoTokenIsShown(t *testing.T) {
	const token = "hunter2-hunter2"
	for _, entry := range []string{"sha256: " + token, "token: " + token, "Secret: " + token, "name: a, sha256: " + someHash + ", key: " + token, "tokn: a, sha256: " + token} {
		inFolder(t, map[string]string{"tokens.yaml": "apiVersion: pex/v1\nkind: Tokens\ntokens: [{" + entry + "}, " + token + "]\n"})
		values, found := dsl.Vet("tokens.yaml", options())
		if text := found.String(); strings.Contains(text, "hunter2") || !found.Failed() {
			t.Errorf("%s:\n%s", entry, text)
		}
		for _, v := range values {
			if strings.Contains(v.Value, "hunter2") {
				t.Errorf("%s: explain shows %s", entry, v.Path)
			}
		}
	}
}

package dsl_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/specfs"
)

// FuzzServer: any server and token file gives a Config or an error, and a Config
// without auth listens on a loopback address.
func FuzzServer(f *testing.F) {
	f.Add(exampleServer, tokenFile)
	f.Add(serverHead+"auth: {token: x, tokens: [a]}\ntls: a\ncors: [a]\nlisten: [1]\n", "tokens: [{name: a, token: b}, c, [d]]\n")
	f.Add(serverHead+"auth: {oidc: {issuer: https://id.example.com, audience: pex, subject: email, tenant: a.b, roles: [x]}}\n", tokenFile)
	f.Add(serverHead+"notify: {a: {events: [run.failed, [x]], url: \"http://x\", url_env: 1, secret_env: whsec_x, headers_env: {a: [b]}, allow: [1/2]}, b: [c], d: &a {e: *a}}\n", tokenFile)
	f.Add(serverHead+"agents: &a {b: {spec: s, set: {x: 1}, roles: *a}}\n", "apiVersion: pex/v1\nkind: Tokens\ntokens: {a: b}\n")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, server, tokens string) {
		o := options()
		o.Read = func(path string) ([]byte, error) {
			switch filepath.Base(path) {
			case "server.yaml":
				return []byte(server), nil
			case "tokens.yaml":
				return []byte(tokens), nil
			}
			return nil, specfs.ErrOnDisk
		}
		for _, name := range []string{"server.yaml", "tokens.yaml"} {
			dsl.Vet(filepath.Join(dir, name), o)
		}
		s, found := dsl.LoadServer(filepath.Join(dir, "server.yaml"), o)
		if (s == nil) != found.Failed() {
			t.Fatal(found)
		}
		if s != nil && s.Auth == nil && !strings.HasPrefix(s.Listen, "127.") && !strings.HasPrefix(s.Listen, "[") && !strings.HasPrefix(strings.ToLower(s.Listen), "localhost:") {
			t.Errorf("listens on %s without auth", s.Listen)
		}
		if s != nil && s.Auth != nil && len(s.Auth.Tokens) == 0 && s.Auth.OIDC == nil {
			t.Error("auth without tokens and issuer")
		}
	})
}

const exampleServer = serverHead + `listen: 127.0.0.1:8484
auth: {tokens: {file: tokens.yaml}}
tenants: {default: shared, known: [shared, acme], header: x-tenant-id}
limits: {body: 1MiB, per_tenant: {concurrent_runs: 8}}
cors: {origins: [https://chat.example.com]}
`

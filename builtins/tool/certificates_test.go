package tool_test

import (
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	builtintool "github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
)

// tlsServer starts a server whose certificate is signed by the CA in the file ca.
func tlsServer(t *testing.T) (base, ca string) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"results":[]}`)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	ca = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return s.URL, ca
}

// Tools trust the same CAs as models, including PEX_CA_FILE.
func TestToolsTrustTheConfiguredCA(t *testing.T) {
	base, ca := tlsServer(t)
	host := strings.TrimPrefix(base, "https://")
	cases := []struct {
		name  string
		build func(tool.Settings) (tool.Tool, error)
		args  any
	}{
		{"http", func(s tool.Settings) (tool.Tool, error) {
			return try(builtintool.HTTP, s, func(c *builtintool.HTTPConfig) { c.URL, c.AllowPrivate = component.Template{Text: base}, true })
		}, map[string]any{}},
		{"http_get", func(s tool.Settings) (tool.Tool, error) {
			return try(builtintool.HTTPGet, s, func(c *builtintool.HTTPGetConfig) { c.AllowHosts = []string{host} })
		}, map[string]any{"url": base}},
		{"http_request", func(s tool.Settings) (tool.Tool, error) {
			return try(builtintool.HTTPRequest, s, func(c *builtintool.HTTPRequestConfig) { c.AllowHosts = []string{host} })
		}, map[string]any{"url": base}},
		{"web_search", func(s tool.Settings) (tool.Tool, error) {
			return try(builtintool.WebSearch, s, func(c *builtintool.WebSearchConfig) { c.URL = component.Template{Text: base} })
		}, map[string]any{"query": "x"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for file, want := range map[string]string{ca: "", "": "certificate"} {
				made, err := c.build(tool.Settings{Env: variable("PEX_CA_FILE", file)})
				if err != nil {
					t.Fatal(err)
				}
				if _, err = call(t, made, c.args); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("with %q: %v", file, err)
				}
			}
			if _, err := c.build(tool.Settings{Env: variable("PEX_CA_FILE", "/nowhere.pem")}); err == nil || !strings.Contains(err.Error(), "PEX_CA_FILE") {
				t.Errorf("missing file: %v", err)
			}
			if _, err := c.build(tool.Settings{Env: variable("PEX_CA_FILE", "/nowhere.pem"), Offline: true}); err != nil {
				t.Errorf("offline: %v", err)
			}
		})
	}
}

// A host chosen by the model does not receive the client certificate.
func TestClientCertificateIsNotSentToHostsTheModelChose(t *testing.T) {
	env := func(name string) string {
		return map[string]string{"PEX_CLIENT_CERT": "/nowhere.pem", "PEX_CLIENT_KEY": "/nowhere.pem"}[name]
	}
	for _, hosts := range [][]string{nil, {"*"}} {
		if _, err := try(builtintool.HTTPGet, tool.Settings{Env: env}, func(c *builtintool.HTTPGetConfig) { c.AllowHosts = hosts }); err != nil {
			t.Errorf("hosts %v: the certificate was read: %v", hosts, err)
		}
	}
	if _, err := try(builtintool.HTTPGet, tool.Settings{Env: env}, func(c *builtintool.HTTPGetConfig) { c.AllowHosts = []string{"example.com"} }); err == nil {
		t.Error("hosts of the author's are not shown the certificate")
	}
}

func variable(name, value string) func(string) string {
	return func(n string) string {
		if n == name {
			return value
		}
		return ""
	}
}

package fetchspec_test

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/builtins/fetchspec"
)

// serve starts a server and returns an environment whose PEX_CA_FILE trusts it.
func serve(t *testing.T, h http.HandlerFunc) (base string, env func(string) string) {
	t.Helper()
	s := httptest.NewTLSServer(h)
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "ca.pem")
	b := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return s.URL, func(name string) string { return map[string]string{"PEX_CA_FILE": file}[name] }
}

func TestFetch(t *testing.T) {
	other, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "kind: Other") })
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	base, env := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/spec.yaml":
			fmt.Fprint(w, "kind: Agent")
		case "/moved":
			http.Redirect(w, r, "/spec.yaml", http.StatusFound)
		case "/away":
			http.Redirect(w, r, other+"/spec.yaml", http.StatusFound)
		case "/open":
			http.Redirect(w, r, plain.URL, http.StatusFound)
		case "/large":
			fmt.Fprint(w, strings.Repeat("#", 1<<20+1))
		default:
			http.NotFound(w, r)
		}
	})
	tests := []struct{ name, address, want, wrong string }{
		{name: "a file", address: base + "/spec.yaml", want: "kind: Agent"},
		{name: "moved on its host", address: base + "/moved", want: "kind: Agent"},
		{name: "moved to another host", address: base + "/away", wrong: "not among the allowed hosts"},
		{name: "moved to plain http", address: base + "/open", wrong: "without https"},
		{name: "absent", address: base + "/none", wrong: "404 Not Found"},
		{name: "too large", address: base + "/large", wrong: "larger than 1 MiB"},
		{name: "plain http", address: plain.URL, wrong: "over https only"},
		{name: "a password", address: "https://a:secret@example.com/x", wrong: "xxxxx@example.com"},
		{name: "no host", address: "https:///x", wrong: "invalid URL"},
		{name: "a private name", address: "https://metadata.invalid/x", wrong: "metadata.invalid"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := fetchspec.Fetch(t.Context(), tt.address, "pex-test", env)
			if string(got) != tt.want || (err == nil) != (tt.wrong == "") || err != nil && !strings.Contains(err.Error(), tt.wrong) {
				t.Errorf("%q, %v", got, err)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Error("the error contains the password")
			}
		})
	}
	if _, err := fetchspec.Fetch(t.Context(), base+"/spec.yaml", "pex-test", func(string) string { return "" }); err == nil {
		t.Error("an untrusted certificate was accepted")
	}
}

func TestIsURL(t *testing.T) {
	for word, want := range map[string]bool{"https://a/b": true, "HTTP://a": true, "spec.yaml": false, "a/b://c": false, "": false, "file:///x": false} {
		if got := fetchspec.IsURL(word); got != want {
			t.Errorf("%q: %t", word, got)
		}
	}
}

package webhook_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/pexctl/pex/internal/httpclient/guardtest"
	"github.com/pexctl/pex/server/webhook"
)

// A name cannot lead a server into its network, unless the webhook allows that. An address in
// the URL is what the operator wants.
func TestAddressesOfReceivers(t *testing.T) {
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	defer receiver.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(receiver.URL, "http://"), ":")
	guardtest.ResolveInside(t)
	for _, tt := range []struct {
		url   string
		allow []netip.Prefix
		fails string // part of the error; "" = accepted
	}{
		{url: receiver.URL},
		{url: "http://rebind.example.com:" + port, fails: "which is not a public address"},
		{url: "http://rebind.example.com:" + port, allow: prefixes("10.0.0.0/8"), fails: "which is not a public address"},
		{url: "http://rebind.example.com:" + port, allow: prefixes("127.0.0.0/8", "::1/128")},
		{url: "http://größe.example.com:" + port, allow: prefixes("127.0.0.0/8", "::1/128")},
	} {
		at, err := url.Parse(tt.url + "/canary")
		if err != nil {
			t.Fatal(err)
		}
		d := webhook.New(webhook.Options{Log: discard})
		box := d.Open(webhook.Tenant{Name: "shared", Home: t.TempDir()})
		hook := &webhook.Hook{Name: "a", URL: at, Secrets: secrets(t, secret), Allow: tt.allow}
		if err := d.SetHooks([]*webhook.Hook{hook}); err != nil {
			t.Fatal(err)
		}
		switch got, _ := box.Test(t.Context(), "a"); {
		case tt.fails == "" && got.Err != nil, tt.fails != "" && (got.Err == nil || !strings.Contains(got.Err.Error(), tt.fails) || strings.Contains(got.Err.Error(), "canary")):
			t.Errorf("%s, allow %v: %+v", tt.url, tt.allow, got)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

func prefixes(all ...string) (out []netip.Prefix) {
	for _, s := range all {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

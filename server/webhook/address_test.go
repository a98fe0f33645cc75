package webhook_test

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/pexctl/pex/internal/httpclient"
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
		var log strings.Builder
		d := webhook.New(webhook.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		box := d.Open(webhook.Tenant{Name: "shared", Home: t.TempDir()})
		hook := &webhook.Hook{Name: "a", URL: at, Secrets: secrets(t, secret), Allow: tt.allow}
		if err := d.SetHooks([]*webhook.Hook{hook}); err != nil {
			t.Fatal(err)
		}
		switch got, _ := box.Test(t.Context(), "a"); {
		case tt.fails == "" && got.Err != nil, tt.fails != "" && (got.Err == nil || !strings.Contains(got.Err.Error(), tt.fails) || strings.Contains(got.Err.Error(), "canary") || strings.Contains(got.Err.Error(), "127.0.0.1")):
			t.Errorf("%s, allow %v: %+v", tt.url, tt.allow, got)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if logged := strings.Contains(log.String(), "127.0.0.1"); tt.fails != "" && !logged {
			t.Errorf("the log has not the address: %s", &log)
		}
	}
}

// Clients do not learn addresses of the server's network from errors.
func TestErrorsForClientsHaveNoAddresses(t *testing.T) {
	receiver := net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 443}
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Addr: &receiver, Err: err} }
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&httpclient.Error{Err: httpclient.ErrBlocked, Message: "desk is at 10.1.2.3"}, "the name of the receiver has an address which is not a public address"},
		{dial(&httpclient.Error{Err: httpclient.ErrBlocked, Message: "desk is at 10.1.2.3"}), "the name of the receiver has an address which is not a public address"},
		{dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), "connect: connection refused"},
		{&net.OpError{Op: "proxyconnect", Err: dial(syscall.ECONNREFUSED)}, "connection refused"},
		{dial(&net.DNSError{Name: "desk", Server: "10.0.0.53:53", IsNotFound: true}), "the name of the receiver has no address"},
		{dial(&net.DNSError{Name: "desk", Server: "10.0.0.53:53", IsTimeout: true}), "the name of the receiver could not be resolved"},
		{&tls.CertificateVerificationError{Err: errors.New("valid for 10.1.2.3")}, "the certificate of the receiver is not valid"},
		{errors.New("HTTP 500 Internal Server Error"), "HTTP 500 Internal Server Error"},
	} {
		if got := webhook.ClientError(tt.err); got.Error() != tt.want {
			t.Errorf("%v: %v, want %s", tt.err, got, tt.want)
		}
	}
}

func prefixes(all ...string) (out []netip.Prefix) {
	for _, s := range all {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

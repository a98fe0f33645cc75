package httpclient_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/internal/httpclient/guardtest"
)

func TestGuardRefusesPrivateAddresses(t *testing.T) {
	client := httpclient.NewGuarded(httpclient.GuardSettings{})
	for _, at := range guardtest.Hostile {
		t.Run(at, func(t *testing.T) {
			resp, err := client.Get(at)
			if err == nil {
				resp.Body.Close()
				t.Fatal("the address was fetched")
			}
			if !errors.Is(err, httpclient.ErrBlocked) {
				t.Errorf("not blocked: %v", err)
			}
		})
	}
}

// The guard checks the address that is dialled, whatever a name resolves to and when. A host name in the allow list
// does not change that.
func TestGuardChecksDialledAddress(t *testing.T) {
	asked := guardtest.ResolveInside(t)
	for _, hosts := range [][]string{nil, {"*"}, {"rebind.example.com", "*.nip.io", "localhost.", "0x*", "[::1]:80"}} {
		client := httpclient.NewGuarded(httpclient.GuardSettings{AllowHosts: hosts})
		for _, at := range guardtest.Unresolvable {
			resp, err := client.Get(at)
			if err == nil {
				resp.Body.Close()
				t.Errorf("%s was fetched", at)
			}
			if strings.Contains(at, "rebind") && !errors.Is(err, httpclient.ErrBlocked) {
				t.Errorf("%s is not blocked: %v", at, err)
			}
		}
	}
	if asked.Load() == 0 {
		t.Error("no name was looked up")
	}
}

func TestGuardAllowsListedHosts(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
	port := at[strings.LastIndex(at, ":")+1:]
	tests := []struct {
		name  string
		hosts []string
		priv  bool
		ok    bool
	}{
		{"nothing named", nil, false, false},
		{"private networks allowed", nil, true, true},
		{"the address", []string{"127.0.0.1"}, false, true},
		{"the address and port", []string{"127.0.0.1:" + port}, false, true},
		{"another port", []string{"127.0.0.1:1"}, false, false},
		{"another host", []string{"example.com"}, false, false},
		{"another host, private allowed", []string{"example.com"}, true, false},
		{"everything public", []string{"*"}, false, false},
		{"a pattern, private allowed", []string{"127.*"}, true, true},
		{"a bad pattern", []string{"["}, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp, err := httpclient.NewGuarded(httpclient.GuardSettings{AllowHosts: tt.hosts, AllowPrivate: tt.priv}).Get(at)
			if err == nil {
				resp.Body.Close()
			}
			if (err == nil) != tt.ok || err != nil && !errors.Is(err, httpclient.ErrBlocked) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestGuardKnowsLocalhost(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
	at = strings.Replace(at, "127.0.0.1", "localhost", 1)
	resp, err := httpclient.NewGuarded(httpclient.GuardSettings{AllowHosts: []string{"localhost"}}).Get(at)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

func TestGuardChecksEachRedirect(t *testing.T) {
	inner := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the inner host was called") })
	outer := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, inner, http.StatusFound) })
	u, err := url.Parse(outer)
	if err != nil {
		t.Fatal(err)
	}
	_, err = httpclient.NewGuarded(httpclient.GuardSettings{AllowHosts: []string{u.Host}}).Get(outer)
	if !errors.Is(err, httpclient.ErrBlocked) {
		t.Errorf("error %v", err)
	}
}

func TestGuardLimitsRedirects(t *testing.T) {
	for most, want := range map[int]int{0: 4, 1: 2, -1: 1} {
		asked := 0
		at := serve(t, func(w http.ResponseWriter, r *http.Request) {
			asked++
			http.Redirect(w, r, r.URL.Path+"x", http.StatusFound)
		})
		_, err := httpclient.NewGuarded(httpclient.GuardSettings{AllowPrivate: true, MaxRedirects: most}).Get(at + "/")
		if !errors.Is(err, httpclient.ErrRedirect) || asked != want {
			t.Errorf("MaxRedirects %d: asked %d, %v", most, asked, err)
		}
	}
}

func TestGuardSendsNoSecretsToAnotherHost(t *testing.T) {
	var got http.Header
	other := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header })
	first := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other, http.StatusFound) })
	req, err := http.NewRequest(http.MethodGet, first, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", "secret")
	req.Header.Set("Authorization", "Bearer secret")
	req.Header.Set("Accept", "text/plain")
	resp, err := httpclient.NewGuarded(httpclient.GuardSettings{AllowPrivate: true}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got.Get("X-Api-Key") != "" || got.Get("Authorization") != "" || got.Get("Accept") != "text/plain" {
		t.Errorf("sent %v", got)
	}
}

func TestGuardLimitsBody(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1001)) })
	resp, err := httpclient.NewGuarded(httpclient.GuardSettings{AllowPrivate: true, MaxBody: 1000}).Get(at)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if len(got) != 1000 || !errors.Is(err, httpclient.ErrTooLarge) {
		t.Errorf("read %d, %v", len(got), err)
	}
}

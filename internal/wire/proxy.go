package wire

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
)

// proxyRefused types the answer of a proxy that does not let a call to a
// server through.
func proxyRefused(_ context.Context, proxy *url.URL, asked *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	e := &Error{
		Kind: KindOf(resp.StatusCode), Status: resp.StatusCode,
		Message: "the proxy " + proxy.Host + " does not connect to " + asked.Host + ": " + http.StatusText(resp.StatusCode),
	}
	if resp.StatusCode == http.StatusProxyAuthRequired {
		e.Message += proxyWants
	}
	return e
}

const proxyWants = " (HTTPS_PROXY and HTTP_PROXY may name a user: http://USER:PASSWORD@host:port)"

// proxySecrets are the passwords in the proxies of the environment. An address
// without a scheme is one of http; one that cannot be read is not used either.
var proxySecrets = sync.OnceValue(func() (secrets []string) {
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"} {
		address := os.Getenv(name)
		if !strings.Contains(address, "://") {
			address = "http://" + address
		}
		u, err := url.Parse(address)
		if err != nil {
			continue
		}
		if pass, ok := u.User.Password(); ok {
			secrets = append(secrets, pass, u.User.Username()+":"+pass)
		}
	}
	return secrets
})

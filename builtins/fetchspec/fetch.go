package fetchspec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pexctl/pex/internal/httpclient"
)

const (
	maxSpec = 1 << 20          // bytes; the limit of spec files (PEX003)
	timeout = 15 * time.Second // for the whole response
)

// IsURL reports whether a command-line argument is a URL and not a path.
func IsURL(word string) bool {
	scheme, _, found := strings.Cut(word, "://")
	return found && (strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http"))
}

// Fetch downloads the content of a URL. Env returns environment variables, for certificates (PEX_CA_FILE and others).
// Redirects are followed on the same host only, and host names that resolve to private addresses are refused.
func Fetch(ctx context.Context, address, agent string, env func(string) string) ([]byte, error) {
	u, err := parse(address)
	if err != nil {
		return nil, err
	}
	client, err := clientFor(u, agent, env)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u.Redacted(), err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fetchError(u, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	switch {
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s: %s", u.Redacted(), resp.Status)
	case errors.Is(err, httpclient.ErrTooLarge):
		return nil, fmt.Errorf("%s: larger than 1 MiB, the maximum size of a spec", u.Redacted())
	case err != nil:
		return nil, fetchError(u, err)
	}
	return body, nil
}

func parse(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Hostname() == "":
		return nil, fmt.Errorf("invalid URL %s; expected https://host/path/spec.yaml", address)
	case !strings.EqualFold(u.Scheme, "https"):
		return nil, fmt.Errorf("%s: specs are fetched over https only, so that they cannot be modified in transit", u.Redacted())
	case u.User != nil:
		return nil, fmt.Errorf("%s: URLs with a password are refused, because they end up in shell histories and logs; download the file and pass its path", u.Redacted())
	}
	return u, nil
}

func clientFor(u *url.URL, agent string, env func(string) string) (*http.Client, error) {
	tls, err := httpclient.CertificatesOf(env).TLS()
	if err != nil {
		return nil, err
	}
	port := u.Port()
	if port == "" {
		port = "443"
	}
	client := httpclient.NewGuarded(httpclient.GuardSettings{
		AllowHosts: []string{net.JoinHostPort(strings.TrimSuffix(u.Hostname(), "."), port)},
		MaxBody:    maxSpec, Timeout: timeout, UserAgent: agent, TLS: tls,
	})
	follow := client.CheckRedirect
	client.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if req.URL.Scheme != "https" {
			return errors.New("redirect to a URL without https")
		}
		return follow(req, via)
	}
	return client, nil
}

// fetchError wraps err with the URL, once and without its password.
func fetchError(u *url.URL, err error) error {
	if bad, ok := errors.AsType[*url.Error](err); ok {
		err = bad.Err
	}
	return fmt.Errorf("%s: %w", u.Redacted(), err)
}

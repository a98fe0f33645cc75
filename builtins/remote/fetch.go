package remote

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

	"github.com/pexctl/pex/internal/wire"
)

const (
	maxSpec  = 1 << 20          // bytes: files of specs have no more (DESIGN section 2)
	patience = 15 * time.Second // for the whole answer
)

// Is says whether a word of a command line is an address, and no path.
func Is(word string) bool {
	scheme, _, found := strings.Cut(word, "://")
	return found && (strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http"))
}

// Fetch gets what an address has. Env is the machine's environment, for its
// certificates (PEX_CA_FILE and the like). A redirect may lead to another path
// of the same host; an address in a private network has to be written as such.
func Fetch(ctx context.Context, address, agent string, env func(string) string) ([]byte, error) {
	u, err := checked(address)
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
		return nil, lost(u, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	switch {
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s: %s", u.Redacted(), resp.Status)
	case errors.Is(err, wire.ErrTooLarge):
		return nil, fmt.Errorf("%s: it is larger than 1 MiB, which no spec is", u.Redacted())
	case err != nil:
		return nil, lost(u, err)
	}
	return body, nil
}

func checked(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Hostname() == "":
		return nil, fmt.Errorf("%s is no address; it looks like https://host/path/spec.yaml", address)
	case !strings.EqualFold(u.Scheme, "https"):
		return nil, fmt.Errorf("%s: a spec is fetched by https only; else anybody on the way could write it", u.Redacted())
	case u.User != nil:
		return nil, fmt.Errorf("%s: an address with a password ends up in histories and logs; fetch it yourself, and name the file", u.Redacted())
	}
	return u, nil
}

func clientFor(u *url.URL, agent string, env func(string) string) (*http.Client, error) {
	tls, err := wire.CertificatesOf(env).TLS()
	if err != nil {
		return nil, err
	}
	port := u.Port()
	if port == "" {
		port = "443"
	}
	client := wire.NewGuarded(wire.GuardSettings{
		AllowHosts: []string{net.JoinHostPort(strings.TrimSuffix(u.Hostname(), "."), port)},
		MaxBody:    maxSpec, Timeout: patience, UserAgent: agent, TLS: tls,
	})
	follow := client.CheckRedirect
	client.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if req.URL.Scheme != "https" {
			return errors.New("it leads to an address without https")
		}
		return follow(req, via)
	}
	return client, nil
}

// lost says why nothing came, without saying the address twice.
func lost(u *url.URL, err error) error {
	if bad, ok := errors.AsType[*url.Error](err); ok {
		err = bad.Err
	}
	return fmt.Errorf("%s: %w", u.Redacted(), err)
}

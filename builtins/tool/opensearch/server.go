package opensearch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/httpclient"
)

const maxCall = 10 * time.Minute // a shorter tool timeout applies through the context

// server is the cluster that a tool calls.
type server struct {
	config   Config
	sign     Signer
	settings tool.Settings
}

func newServer(c Config, sign Signer, s tool.Settings) (*server, error) {
	if err := c.check().Err(); err != nil {
		return nil, err
	}
	return &server{c, sign, s}, nil
}

// apiRequest is one request. It contains no unchecked values from the model.
type apiRequest struct {
	path  string // relative to the URL of the cluster, starting with /
	query url.Values
	body  []byte // nil = GET
}

// ask sends a request and returns the body of the response.
func (s *server) ask(ctx context.Context, call *tool.Call, q apiRequest) ([]byte, error) {
	if s.settings.Offline {
		return nil, fmt.Errorf("offline: pexctl test makes no network calls; give run.tools.%s or a cassette", s.settings.Name)
	}
	look := s.lookup(call)
	base, err := s.base(look)
	if err != nil {
		return nil, err
	}
	client, err := s.client(base)
	if err != nil {
		return nil, err
	}
	req, err := q.request(ctx, base)
	if err != nil {
		return nil, err
	}
	if err := s.authorize(ctx, req, q.body, look); err != nil {
		return nil, err
	}
	return send(client, req)
}

// lookup returns the variables of the environment.
func (s *server) lookup(call *tool.Call) component.Lookup {
	if call.Lookup != nil {
		return call.Lookup
	}
	return func(ns, name string) (any, bool) {
		v := s.environment()(name)
		return v, ns == "env" && v != ""
	}
}

func (s *server) environment() func(string) string {
	if s.settings.Env == nil {
		return os.Getenv
	}
	return s.settings.Env
}

// base returns the URL of the cluster.
func (s *server) base(look component.Lookup) (*url.URL, error) {
	text, err := render("url", s.config.URL, look)
	if err != nil {
		return nil, err
	}
	return address(text)
}

// render renders a template of the author. It returns an error if a referenced variable
// has no value.
func render(key string, t component.Template, look component.Lookup) (text string, err error) {
	text = t.Render(func(ns, name string) (any, bool) {
		v, ok := look(ns, name)
		if (!ok || v == nil) && err == nil {
			err = fmt.Errorf("%s needs ${%s.%s}, which has no value", key, ns, name)
		}
		return v, ok
	})
	return text, err
}

// address parses the URL of a cluster. A path is allowed for proxies.
func address(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(strings.TrimSpace(text), "/"))
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, errors.New("url is not an http or https address")
	case u.User != nil:
		return nil, errors.New("url contains a user name: write it under auth")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("url must not have a query or a fragment")
	}
	return u, nil
}

// client returns an HTTP client for the cluster. It follows no redirects, because they
// would not be signed.
func (s *server) client(base *url.URL) (*http.Client, error) {
	env := s.environment()
	tls, err := httpclient.CertificatesOf(env).TLS()
	if err != nil {
		return nil, err
	}
	host := strings.TrimSuffix(base.Hostname(), ".")
	return httpclient.NewGuarded(httpclient.GuardSettings{
		AllowHosts: []string{host}, AllowPrivate: s.config.AllowPrivate, MaxBody: s.config.MaxBytes, MaxRedirects: -1,
		Timeout: maxCall, UserAgent: s.settings.UserAgent, TLS: tls,
	}), nil
}

func (q apiRequest) request(ctx context.Context, base *url.URL) (*http.Request, error) {
	u := *base
	u.Path, u.RawPath, u.RawQuery = base.Path+q.path, "", q.query.Encode()
	method := http.MethodGet
	if q.body != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(q.body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if q.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// authorize adds the credentials.
func (s *server) authorize(ctx context.Context, req *http.Request, body []byte, look component.Lookup) error {
	a := s.config.Auth
	switch a.Type {
	case basic:
		user, err := render("auth.username", a.Username, look)
		if err != nil {
			return err
		}
		password, err := secret(a.PasswordEnv, look)
		req.SetBasicAuth(user, password)
		return err
	case bearer:
		token, err := secret(a.TokenEnv, look)
		req.Header.Set("Authorization", "Bearer "+token)
		return err
	case sigv4:
		if s.sign == nil {
			return errors.New("auth.type sigv4 is not available here: no request signer is configured")
		}
		sum := sha256.Sum256(body)
		if err := s.sign(ctx, req, hex.EncodeToString(sum[:]), a.Region, a.Service); err != nil {
			return fmt.Errorf("sign the request to OpenSearch: %w", err)
		}
	}
	return nil
}

// secret returns the secret in an environment variable.
func secret(variable string, look component.Lookup) (string, error) {
	v, _ := look("env", variable)
	text, _ := v.(string)
	if text = strings.TrimSpace(text); text == "" {
		return "", fmt.Errorf("OpenSearch needs credentials, but the environment variable %s is not set", variable)
	}
	return text, nil
}

// send returns the body of the response, or an error for an error response.
func send(client *http.Client, req *http.Request) ([]byte, error) {
	resp, err := client.Do(req)
	if err != nil {
		if bad, ok := errors.AsType[*url.Error](err); ok {
			err = bad.Err
		}
		return nil, requestError(req, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		err := statusError(resp, body)
		if httpclient.IsUnavailableStatus(resp.StatusCode) {
			err = tool.Unavailable(err)
		}
		return nil, err
	}
	if errors.Is(err, httpclient.ErrTooLarge) {
		return nil, fmt.Errorf("OpenSearch's response is too large (%w); request fewer hits with size, or fewer fields with _source", err)
	}
	if err != nil {
		return nil, requestError(req, err)
	}
	return body, nil
}

// requestError returns the error of a request without a response.
func requestError(req *http.Request, err error) error {
	wrapped := fmt.Errorf("OpenSearch at %s: %w", req.URL.Host, err)
	if httpclient.IsUnavailable(err) {
		return tool.Unavailable(wrapped)
	}
	return wrapped
}

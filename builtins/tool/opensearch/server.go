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

const maxCall = 10 * time.Minute // the engine's timeout, in the context, is the shorter one

// server is the cluster that a tool asks.
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

// question is one request: nothing of it may come from a model unchecked.
type question struct {
	path  string // below the address of the cluster, starting with /
	query url.Values
	body  []byte // nil = GET
}

// ask sends a request and gives the body of its answer.
func (s *server) ask(ctx context.Context, call *tool.Call, q question) ([]byte, error) {
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

// lookup finds values of the environment.
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

// base is the address of the cluster.
func (s *server) base(look component.Lookup) (*url.URL, error) {
	text, err := filled("url", s.config.URL, look)
	if err != nil {
		return nil, err
	}
	return address(text)
}

// filled is a template of the author's; each name in it must have a value.
func filled(key string, t component.Template, look component.Lookup) (text string, err error) {
	text = t.Render(func(ns, name string) (any, bool) {
		v, ok := look(ns, name)
		if (!ok || v == nil) && err == nil {
			err = fmt.Errorf("%s needs ${%s.%s}, which has no value", key, ns, name)
		}
		return v, ok
	})
	return text, err
}

// address reads where a cluster is; its path is none but a proxy's.
func address(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(strings.TrimSpace(text), "/"))
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, errors.New("url is no http or https address")
	case u.User != nil:
		return nil, errors.New("url has a user name in it: write it under auth")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("url has a query or a fragment, which an address of a cluster has not")
	}
	return u, nil
}

// client reaches the cluster and follows no redirect: it would not be signed.
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

func (q question) request(ctx context.Context, base *url.URL) (*http.Request, error) {
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

// authorize says who asks.
func (s *server) authorize(ctx context.Context, req *http.Request, body []byte, look component.Lookup) error {
	a := s.config.Auth
	switch a.Type {
	case basic:
		user, err := filled("auth.username", a.Username, look)
		if err != nil {
			return err
		}
		password, err := held(a.PasswordEnv, look)
		req.SetBasicAuth(user, password)
		return err
	case bearer:
		token, err := held(a.TokenEnv, look)
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

// held is the secret that a variable of the environment holds.
func held(variable string, look component.Lookup) (string, error) {
	v, _ := look("env", variable)
	text, _ := v.(string)
	if text = strings.TrimSpace(text); text == "" {
		return "", fmt.Errorf("OpenSearch wants to know who asks, and the environment variable %s is not set", variable)
	}
	return text, nil
}

// send gives the body of an answer; one that is a refusal becomes an error.
func send(client *http.Client, req *http.Request) ([]byte, error) {
	resp, err := client.Do(req)
	if err != nil {
		if bad, ok := errors.AsType[*url.Error](err); ok {
			err = bad.Err
		}
		return nil, lost(req, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		err := refused(resp, body)
		if httpclient.IsUnavailableStatus(resp.StatusCode) {
			err = tool.Unavailable(err)
		}
		return nil, err
	}
	if errors.Is(err, httpclient.ErrTooLarge) {
		return nil, fmt.Errorf("OpenSearch's answer is too large (%w); ask for fewer hits by size, or for some fields only by _source", err)
	}
	if err != nil {
		return nil, lost(req, err)
	}
	return body, nil
}

// lost says why no answer came.
func lost(req *http.Request, err error) error {
	told := fmt.Errorf("OpenSearch at %s: %w", req.URL.Host, err)
	if httpclient.IsUnavailable(err) {
		return tool.Unavailable(told)
	}
	return told
}

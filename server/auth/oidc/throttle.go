package oidc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/pexctl/pex/internal/httpclient"
)

// Limits of requests to the issuer.
const (
	maxBody    = 1 << 20
	fetchTime  = 5 * time.Second
	minRefetch = 10 * time.Second // between two successful requests for one URL
	retryAfter = 5 * time.Second  // a failed one
)

// newClient returns the client for an issuer.
func newClient(o Options) *http.Client {
	inner := httpclient.New(httpclient.Settings{FirstByte: fetchTime, Idle: fetchTime, Total: fetchTime, MaxBody: maxBody, Base: o.Transport})
	return &http.Client{Transport: &throttle{client: inner.HTTP(), now: o.Now, results: map[string]result{}}}
}

// throttle sends one request at a time, and repeats recent results. So clients with unknown
// keys cannot make the server flood the issuer, and requests do not wait for an issuer that
// is down.
type throttle struct {
	client *http.Client
	now    func() time.Time

	mu      sync.Mutex
	results map[string]result // by URL
}

// result is what a request returned.
type result struct {
	at     time.Time
	header http.Header
	body   []byte
	err    error
}

// RoundTrip implements http.RoundTripper for GET requests.
func (t *throttle) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme != "https" && !isLoopback(req.URL.Hostname()) {
		return nil, fmt.Errorf("%s does not use https", req.URL.Redacted())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	address := req.URL.String()
	r, ok := t.results[address]
	wait := minRefetch
	if r.err != nil {
		wait = retryAfter
	}
	if !ok || t.now().Sub(r.at) >= wait {
		r = t.fetch(req)
		t.results[address] = r
	}
	if r.err != nil {
		return nil, r.err
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: r.header.Clone(), Body: io.NopCloser(bytes.NewReader(r.body)), ContentLength: int64(len(r.body)), Request: req,
	}, nil
}

// fetch sends a request. It does not end with the request of the client that caused it.
func (t *throttle) fetch(req *http.Request) result {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(req.Context()), fetchTime)
	defer cancel()
	resp, err := t.client.Do(req.Clone(ctx))
	if err != nil {
		if outer, ok := errors.AsType[*url.Error](err); ok {
			err = outer.Err // the client of the library adds the URL, too
		}
		return result{at: t.now(), err: err}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: status %d", req.URL.Redacted(), resp.StatusCode)
	}
	return result{at: t.now(), header: resp.Header, body: body, err: err}
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}

package httprecord

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	"github.com/pexctl/pex/engine/secret"
)

// Recording is a sequence of exchanges between a provider and a server.
type Recording struct {
	Origin  string // the server: "OpenAI", "aimock 1.43.0", "composed from the documentation"
	Date    string // of the recording, as 2006-01-02
	BaseURL string // of the LLM; "" = the provider's default; for a local server a name in .test
	Model   string // of the LLM
	Noise   bool   // the replies are meaningless: they are from a model with random weights
	Note    string // other information, in separate lines

	Exchanges []Exchange
}

// Exchange is a request and its response.
type Exchange struct {
	Request  Request
	Response Response
}

// Request is the recorded part of a request. Headers with a key have a placeholder instead.
type Request struct {
	Method string
	Path   string // with its query
	Header http.Header
	Body   []byte // JSON is indented with sorted keys
}

// Response is the recorded part of a response. Its body is in the pieces in which it arrived.
type Response struct {
	Status int
	Header http.Header
	Pieces [][]byte
}

// Body returns the whole body.
func (r Response) Body() []byte { return bytes.Join(r.Pieces, nil) }

// cut splits a body into pieces of these sizes.
func cut(body []byte, sizes []int) [][]byte {
	var out [][]byte
	for _, n := range sizes {
		out = append(out, body[:n:n])
		body = body[n:]
	}
	return out
}

func sizes(pieces [][]byte) []int {
	var out []int
	for _, p := range pieces {
		out = append(out, len(p))
	}
	return out
}

// Read reads a recording from a file.
func Read(path string) (*Recording, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// Write writes the recording to a file and reports whether that changed it. It returns an error if the recording
// seems to contain a key.
func (r *Recording) Write(path string) (changed bool, err error) {
	if sighting := r.suspect(); sighting.Kind != "" {
		return false, fmt.Errorf("%s: not written, because the recording contains %s", path, sighting.Kind)
	}
	text := r.Format()
	old, err := os.ReadFile(path)
	if err == nil && bytes.Equal(old, text) {
		return false, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return false, err
	}
	return true, os.WriteFile(path, text, 0o644)
}

// suspect finds texts that look like a key, also in base64.
func (r *Recording) suspect() secret.Sighting {
	if seen := secret.InRecord(string(r.Format()), ""); seen.Kind != "" {
		return seen
	}
	for _, x := range r.Exchanges {
		for _, body := range [][]byte{x.Request.Body, x.Response.Body()} {
			if seen := secret.InJSON(body); seen.Kind != "" {
				return seen
			}
		}
	}
	return secret.Sighting{}
}

// Route sends every request to a server at another address, so that recordings contain no local addresses. Path and
// query are unchanged.
func Route(server http.RoundTripper, to *url.URL) http.RoundTripper {
	return route{server, to}
}

type route struct {
	server http.RoundTripper
	to     *url.URL
}

// RoundTrip implements http.RoundTripper.
func (r route) RoundTrip(req *http.Request) (*http.Response, error) {
	out := req.Clone(req.Context())
	out.URL.Scheme, out.URL.Host, out.Host = r.to.Scheme, r.to.Host, r.to.Host
	return r.server.RoundTrip(out)
}

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

// Recording is one conversation of a provider with its server.
type Recording struct {
	Origin  string // who answered: "OpenAI", "aimock 1.43.0", "composed from the documentation"
	Date    string // when, as 2006-01-02
	BaseURL string // of the llm, "" = the provider's own; a local server has a name that ends in .test
	Model   string // of the llm
	Noise   bool   // the answers have a form and no meaning: a model of random weights gave them
	Note    string // what else is to be said, in lines of its own

	Exchanges []Exchange
}

// Exchange is a request and its answer.
type Exchange struct {
	Request  Request
	Response Response
}

// Request is what is kept of a request. Headers that carry a key say so, and
// not which.
type Request struct {
	Method string
	Path   string // with its query
	Header http.Header
	Body   []byte // JSON is indented, its names in order
}

// Response is what is kept of an answer: its body in the pieces in which it came.
type Response struct {
	Status int
	Header http.Header
	Pieces [][]byte
}

// Body is all of an answer.
func (r Response) Body() []byte { return bytes.Join(r.Pieces, nil) }

// cut parts a body into pieces of these sizes.
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

// Read reads the file of a recording.
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

// Write puts the recording into a file, and says whether that changed it. A
// recording that still looks as if it held a key is not written.
func (r *Recording) Write(path string) (changed bool, err error) {
	if seen := r.suspect(); seen.Kind != "" {
		return false, fmt.Errorf("%s is not written: %s stands in the recording", path, seen.Kind)
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

// suspect finds what looks like a key, also where the file has base64.
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

// Route sends every request to a server at another address than the one it
// names, so that what is recorded names no machine. Path and query stay.
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

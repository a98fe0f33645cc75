package httprecord

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/internal/httpclient"
)

// T is the part of *testing.T that a player needs.
type T interface {
	Helper()
	Errorf(format string, args ...any)
}

// Player responds as recorded. Requests must be made in the recorded order. It is safe for concurrent use.
type Player struct {
	t    T
	left []Exchange
	n    int
	mu   sync.Mutex
}

var _ http.RoundTripper = (*Player)(nil)

// errOther is returned for a request that differs from the recorded one.
var errOther = errors.New("the request differs from the recorded one")

// NewPlayer returns a player of a recording for a test.
func NewPlayer(t T, r *Recording) *Player { return &Player{t: t, left: r.Exchanges} }

// RoundTrip implements http.RoundTripper.
func (p *Player) RoundTrip(req *http.Request) (*http.Response, error) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n++
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	got, err := recordRequest(req)
	if err != nil {
		return nil, err
	}
	if len(p.left) == 0 {
		p.t.Errorf("request %d, %s %s, was not recorded: the recording ends before it", p.n, got.Method, got.Path)
		return nil, errOther
	}
	next := p.left[0]
	if d := Diff(next.Request, got); d != "" {
		p.t.Errorf("request %d differs from the recorded one (if that is intended, record it again with make record, or write the change into the file):\n%s", p.n, d)
		return nil, errOther
	}
	p.left = p.left[1:]
	return next.Response.http(req), nil
}

// Done reports recorded requests that were not made.
func (p *Player) Done() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.left) > 0 {
		p.t.Errorf("%d recorded requests were not made, the next is %s %s", len(p.left), p.left[0].Request.Method, p.left[0].Request.Path)
	}
}

// Diff returns the difference of two requests, or "". Formatting of JSON is ignored.
func Diff(want, got Request) string {
	w, g := normalize(want), normalize(got)
	if bytes.Equal(w, g) {
		return ""
	}
	return string(diff.Diff("recorded", w, "sent", g))
}

// normalize returns the normalized form of a request.
func normalize(r Request) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s\n", r.Method, withoutKeys(r.Path))
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(r.Header[name], ", "))
	}
	b.WriteString("\n")
	b.Write(normalizeJSON(r.Body))
	return b.Bytes()
}

// withoutKeys removes the values of keys from the query of an address.
func withoutKeys(address string) string {
	path, query, found := strings.Cut(address, "?")
	if !found {
		return address
	}
	fields := strings.Split(query, "&")
	for i, field := range fields {
		if name, _, _ := strings.Cut(field, "="); httpclient.SecretName(name) {
			fields[i] = name + "=[key]"
		}
	}
	return path + "?" + strings.Join(fields, "&")
}

// normalizeJSON returns normalized JSON: indented, keys sorted, numbers unchanged. Other texts are returned unchanged.
func normalizeJSON(body []byte) []byte {
	var v any
	if !json.Valid(body) || jsonvalue.Unmarshal(body, &v) != nil {
		return body
	}
	out, err := jsonvalue.MarshalIndent(v)
	if err != nil {
		return body
	}
	return append(out, '\n')
}

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

// Player answers as a recording has it: each request must be the next one that
// was recorded. Safe for concurrent use.
type Player struct {
	t    T
	left []Exchange
	n    int
	mu   sync.Mutex
}

var _ http.RoundTripper = (*Player)(nil)

// errOther ends a call whose request is another one than the recorded.
var errOther = errors.New("the request is not the recorded one")

// NewPlayer plays a recording to a test.
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
	got, err := taken(req)
	if err != nil {
		return nil, err
	}
	if len(p.left) == 0 {
		p.t.Errorf("request %d, %s %s, was not recorded: the recording ends before it", p.n, got.Method, got.Path)
		return nil, errOther
	}
	next := p.left[0]
	if d := Diff(next.Request, got); d != "" {
		p.t.Errorf("request %d differs from the recorded one (if that is meant, record it again with make record, or write the change into the file):\n%s", p.n, d)
		return nil, errOther
	}
	p.left = p.left[1:]
	return next.Response.http(req), nil
}

// Done complains of requests that were recorded and not made.
func (p *Player) Done() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.left) > 0 {
		p.t.Errorf("%d recorded requests were not made, the next is %s %s", len(p.left), p.left[0].Request.Method, p.left[0].Request.Path)
	}
}

// Diff says how two requests differ, "" = not at all. JSON is the same however
// it is written.
func Diff(want, got Request) string {
	w, g := shown(want), shown(got)
	if bytes.Equal(w, g) {
		return ""
	}
	return string(diff.Diff("recorded", w, "sent", g))
}

// shown is a request in its one form.
func shown(r Request) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s\n", r.Method, keyless(r.Path))
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(r.Header[name], ", "))
	}
	b.WriteString("\n")
	b.Write(normal(r.Body))
	return b.Bytes()
}

// keyless is an address without the values of keys in its query: which key it
// was says no file.
func keyless(address string) string {
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

// normal is JSON in its one form: indented, names in order, numbers as they
// were written. What is no JSON stays as it is.
func normal(body []byte) []byte {
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

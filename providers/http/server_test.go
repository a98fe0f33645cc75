package http_test

import (
	"encoding/json"
	nethttp "net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/http"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
)

// protocol defines the requests and replies of a fake endpoint.
type protocol struct {
	path         string // path of requests, with MODEL for the model's name; "" = any
	parseRequest func(t *testing.T, raw []byte) enginetest.ReceivedRequest
	answer       func(x enginetest.Response) any
	refuse       func(x enginetest.Response) any
	id           string // header with the id of a request
}

// at builds a model of an endpoint, without waits between attempts.
func at(t testing.TB, base string, c http.Config, set model.Settings) model.Model {
	t.Helper()
	set.BaseURL = base
	m, err := http.New(&c, set, modelhttptest.DisableWaits)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var inPath = regexp.MustCompile(`^/models?/([^/:]+)`)

// speech returns the protocol for modelhttptest.
func (p protocol) speech() modelhttptest.Protocol {
	return modelhttptest.Protocol{
		ParseRequest: func(t *testing.T, r *nethttp.Request, raw []byte) (enginetest.ReceivedRequest, bool) {
			a := p.parseRequest(t, raw)
			path := r.URL.EscapedPath()
			if m := inPath.FindStringSubmatch(path); m != nil {
				a.Params.Model, path = m[1], strings.Replace(path, m[1], "MODEL", 1)
			}
			if got := r.Header.Get("Authorization"); got != "Bearer sk-a-secret-of-the-suite" {
				t.Errorf("authorization %q", got)
			}
			return a, p.path == "" || path == p.path
		},
		ErrorBody: func(h nethttp.Header, x enginetest.Response, _ enginetest.ReceivedRequest) any {
			h.Set(p.id, x.RequestID)
			return p.refuse(x)
		},
		ReplyBody: func(_ nethttp.Header, x enginetest.Response) any { return p.answer(x) },
	}
}

// read decodes a request and reports unknown fields.
func read(t *testing.T, raw []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Errorf("%v: %s", err, raw)
	}
}

// conforms runs the conformance suite for an interface.
func conforms(t *testing.T, c http.Config, p protocol, skip ...string) {
	t.Helper()
	enginetest.ModelSuite(t, func(t *testing.T, script *enginetest.ModelScript, set model.Settings) model.Model {
		return at(t, modelhttptest.Serve(t, script, p.speech()), c, set)
	}, skip...)
}

package server_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/server"
	"github.com/pexctl/pex/server/problem"
)

// A protocol has its own paths, and receives its own form of errors, also those of the
// server.
func TestRoutesHaveTheirOwnErrors(t *testing.T) {
	name := func(s string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, s) })
	}
	form := problem.Form{Body: func(_ *http.Request, p *problem.Problem) (string, []byte) {
		return "text/plain", []byte("form: " + string(p.Code))
	}}
	panics := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("x") })
	s, err := server.New(server.Options{
		Handler: name("default"),
		Routes:  []server.Route{{Paths: []string{"/a/", "/b"}, Handler: name("route"), Form: form}, {Paths: []string{"/panic"}, Handler: panics, Form: form}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/a/x": "route", "/b": "route", "/b/x": "default", "/a": "default", "/panic": "form: internal"} {
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Body.String() != want {
			t.Errorf("%s: %d %s, want %s", path, w.Code, w.Body, want)
		}
	}
}

// Requests are observed with the pattern of their path, never with the path itself, and probes are
// not.
func TestRequestsAreObserved(t *testing.T) {
	mux := http.NewServeMux()
	respond := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
	}
	mux.HandleFunc("GET /runs/{run}", respond(200))
	mux.HandleFunc("POST /runs/{run}", respond(503))
	mux.HandleFunc("/any/{rest...}", respond(200))
	mux.HandleFunc("/", respond(404))
	var got []string
	s, err := server.New(server.Options{
		Handler: mux, Routes: []server.Route{{Paths: []string{"/own/", "/exact"}, Handler: respond(201)}},
		Observe: func(method, route string, status int, took time.Duration) {
			if took < 0 {
				t.Error(took)
			}
			got = append(got, fmt.Sprint(method, " ", route, " ", status))
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, request := range []string{"GET /runs/secret", "POST /runs/secret", "GET /any/a/b", "GET /nope/secret", "GET /own/secret", "PUT /exact", "GET /healthz", "GET /readyz"} {
		method, path, _ := strings.Cut(request, " ")
		s.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(method, path, nil))
	}
	want := []string{"GET /runs/{run} 200", "POST /runs/{run} 503", "GET /any/{rest...} 200", "GET  404", "GET /own/ 201", "PUT /exact 201"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

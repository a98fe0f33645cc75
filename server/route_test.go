package server_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

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

package tool_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	builtintool "github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/engine/tool"
)

// A server that an author names and that is not there tells of every call to
// come; one that a model names does not.
func TestWhoseServerIsNotThere(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	down := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	defer down.Close()
	wrong := httptest.NewServer(http.NotFoundHandler())
	defer wrong.Close()
	tests := []struct {
		name, url string
		service   bool
	}{{"no connection", gone.URL, true}, {"503", down.URL, true}, {"404", wrong.URL, false}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			authors := made(t, builtintool.HTTP, tool.Settings{}, func(c *builtintool.HTTPConfig) { c.URL = template(t, tt.url) })
			if _, err := call(t, authors, map[string]any{}); isDown(err) != tt.service || err == nil {
				t.Errorf("http: %v", err)
			}
			models := getter(t, tt.url, nil)
			if _, err := call(t, models, map[string]any{"url": tt.url}); isDown(err) || err == nil {
				t.Errorf("http_get: %v", err)
			}
		})
	}
}

func isDown(err error) bool {
	_, down := errors.AsType[*tool.UnavailableError](err)
	return down
}

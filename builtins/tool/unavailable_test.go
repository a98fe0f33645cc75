package tool_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	builtintool "github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/engine/tool"
)

// If a server that the author named is down, all further calls will fail too. If the
// model named the server, they may not.
func TestUnavailableServer(t *testing.T) {
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
			authors := newTool(t, builtintool.HTTP, tool.Settings{}, func(c *builtintool.HTTPConfig) { c.URL = template(t, tt.url) })
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

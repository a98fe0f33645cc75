package httpclient_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/pexctl/pex/internal/httpclient"
)

func TestStreamLineIsLimited(t *testing.T) {
	for _, tt := range []struct {
		name, kind string
		line       int
		fails      bool
	}{
		{"a long one", "text/event-stream", 7 << 20, false},
		{"one without end", "text/event-stream; charset=utf-8", 9 << 20, true},
		{"of another type", "application/vnd.amazon.eventstream", 9 << 20, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tt.kind)
				for range 2 {
					_, _ = w.Write(append(bytes.Repeat([]byte("x"), tt.line), '\n'))
				}
			}))
			defer s.Close()
			resp, err := httpclient.New(httpclient.Settings{}).HTTP().Get(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			_, err = io.Copy(io.Discard, resp.Body)
			if errors.Is(err, httpclient.ErrTooLarge) != tt.fails || err != nil && !tt.fails {
				t.Errorf("error %v", err)
			}
		})
	}
}

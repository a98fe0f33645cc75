package access_test

import (
	"net/http/httptest"
	"testing"

	"github.com/pexctl/pex/server/access"
)

func TestTheOriginOfTheServer(t *testing.T) {
	for _, tt := range []struct{ url, public, proto, want string }{
		{"http://localhost:8484/x", "", "", "http://localhost:8484"},
		{"https://agents.example.com/x", "", "", "https://agents.example.com"},
		{"http://agents.example.com/x", "", "https", "https://agents.example.com"},
		{"http://10.0.0.7:8484/x", "https://agents.example.com", "http", "https://agents.example.com"},
	} {
		r := httptest.NewRequest("GET", tt.url, nil)
		r.Header.Set("X-Forwarded-Proto", tt.proto)
		if got := (&access.Server{PublicURL: tt.public}).Origin(r); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

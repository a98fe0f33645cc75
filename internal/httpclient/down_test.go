package httpclient_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"

	"github.com/pexctl/pex/internal/httpclient"
)

func TestIsUnavailable(t *testing.T) {
	for status, want := range map[int]bool{200: false, 404: false, 429: false, 500: false, 501: false, 502: true, 503: true, 504: true} {
		if got := httpclient.IsUnavailableStatus(status); got != want {
			t.Errorf("status %d: %t", status, got)
		}
	}
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{fmt.Errorf("get: %w", refused), true},
		{context.DeadlineExceeded, true},
		{errors.New("the reply is not JSON"), false},
		{&net.OpError{Op: "dial", Err: httpclient.ErrBlocked}, false},
		{&net.OpError{Op: "dial", Err: httpclient.ErrRedirect}, false},
		{&net.OpError{Op: "read", Err: httpclient.ErrTooLarge}, false},
		{nil, false},
	} {
		if got := httpclient.IsUnavailable(tt.err); got != tt.want {
			t.Errorf("%v: %t", tt.err, got)
		}
	}
	client := httpclient.NewGuarded(httpclient.GuardSettings{})
	resp, err := client.Do(request(t, "http://127.0.0.1:1/"))
	if err == nil {
		resp.Body.Close()
	}
	if httpclient.IsUnavailable(err) || !errors.Is(err, httpclient.ErrBlocked) {
		t.Errorf("a rejected address does not mean that the server is unavailable: %v", err)
	}
}

func request(t *testing.T, url string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

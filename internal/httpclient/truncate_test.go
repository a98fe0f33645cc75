package httpclient_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
)

const cutKey = "sk-Q7fX2LkZ9vT4mB8wR1yN6cJ3"

// Texts are truncated after redaction, otherwise part of a secret could remain.
func TestTruncationLeavesNoPartialSecret(t *testing.T) {
	tests := []struct {
		name  string
		serve fake
	}{
		{"at the end of what is read", func(r *http.Request) (*http.Response, error) {
			return refusal(r, strings.NewReader(strings.Repeat("x", 64<<10-10)+cutKey)), nil
		}},
		{"where the body breaks off", func(r *http.Request) (*http.Response, error) {
			return refusal(r, io.MultiReader(strings.NewReader("your key is "+cutKey[:12]), broken{})), nil
		}},
		{"in the message", func(r *http.Request) (*http.Response, error) {
			return refusal(r, strings.NewReader(strings.Repeat("x", 490)+cutKey)), nil
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := httpclient.New(httpclient.Settings{Base: tt.serve, Secrets: []string{cutKey}})
			var got string
			_, err := c.Call(t.Context(), fetch(c, "http://model.test", &got))
			e, ok := errors.AsType[*httpclient.Error](err)
			if !ok || strings.Contains(string(e.Body)+e.Message, cutKey[:6]) || len(e.Body) < 10 {
				t.Errorf("message %q, body that ends in %q", e.Message, e.Body[max(0, len(e.Body)-60):])
			}
		})
	}
}

func TestBreakerErrorLeavesNoPartialSecret(t *testing.T) {
	c := httpclient.New(httpclient.Settings{Breaker: httpclient.NewBreaker(), Secrets: []string{cutKey}})
	job := httpclient.Call{
		HasFallback: true, Kind: func(error) model.ErrorKind { return model.ServerError },
		Do: func(context.Context) (int, error) { return 0, errors.New(strings.Repeat("x", 290) + cutKey) },
	}
	for range 5 {
		_, _ = c.Call(t.Context(), job)
	}
	if _, err := c.Call(t.Context(), job); !errors.Is(err, httpclient.ErrOpen) || strings.Contains(err.Error(), cutKey[:6]) {
		t.Error(err)
	}
}

func refusal(r *http.Request, body io.Reader) *http.Response {
	return &http.Response{StatusCode: 500, Header: http.Header{}, Body: io.NopCloser(body), Request: r}
}

// broken is a body that ends early.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

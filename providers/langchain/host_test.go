package langchain_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/langchain"
)

// host starts a server that answers a backend's requests with the key that they contain. received returns the path and key
// of all requests.
func host(t *testing.T, backend string) (base string, received func() string) {
	t.Helper()
	var mu sync.Mutex
	var all strings.Builder
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		key := r.Header.Get("Authorization") + r.URL.Query().Get("access_token")
		fmt.Fprintln(&all, r.URL.Path, key)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, strings.Replace(good[backend], `"x"`, `"`+key+`"`, 1))
	}))
	t.Cleanup(s.Close)
	return s.URL, func() string { mu.Lock(); defer mu.Unlock(); return all.String() }
}

// Langchaingo's clients receive neither key nor address, so keys of one LLM never reach the server of another.
func TestConcurrentLLMsUseTheirOwnKeys(t *testing.T) {
	for backend := range good {
		t.Run(backend, func(t *testing.T) {
			var running sync.WaitGroup
			var received []func() string
			for _, key := range []string{"key-of-one", "key-of-two"} {
				base, all := host(t, backend)
				received = append(received, all)
				m := at(t, base+"/"+key, of(backend), model.Settings{Model: "m", APIKey: key})
				for range 32 {
					running.Go(func() {
						if got, err := m.Generate(t.Context(), ask("How many?"), nil); err != nil || !strings.HasSuffix(got.Text, key) {
							t.Errorf("%s: reply %+v, error %v", key, got, err)
						}
					})
				}
			}
			running.Wait()
			if one, two := received[0](), received[1](); strings.Contains(one, "two") || strings.Contains(two, "one") || strings.Count(one+two, "\n") != 64 {
				t.Errorf("%s\n%s", one, two)
			}
		})
	}
}

// A redirect to another host is not followed, since that host would receive the key.
func TestRedirectsToOtherHostsAreNotFollowed(t *testing.T) {
	for backend := range good {
		t.Run(backend, func(t *testing.T) {
			other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("requested %s", r.URL) }))
			defer other.Close()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, other.URL+"?"+r.URL.RawQuery, http.StatusTemporaryRedirect)
			}))
			defer s.Close()
			_, err := at(t, s.URL, of(backend), model.Settings{Model: "m", APIKey: "sk-s/e+cret"}).Generate(t.Context(), ask("How many?"), nil)
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != model.BadRequest || !strings.Contains(e.Message, "redirected to another host") {
				t.Errorf("error %v", err)
			}
			if text := fmt.Sprint(err); strings.Contains(text, "s/e+cret") || strings.Contains(text, "s%2Fe%2Bcret") {
				t.Errorf("the key is shown: %s", text)
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	for base, want := range map[string]string{
		"":                 "/completions?access_token=k",
		"/":                "/completions?access_token=k",
		"/a/b/":            "/a/b/completions?access_token=k",
		"/a%2Fb":           "/a%2Fb/completions?access_token=k",
		"/a?tenant=1":      "/a/completions?access_token=k&tenant=1",
		"/?tenant=sk-none": "/completions?access_token=k&tenant=sk-none",
	} {
		var got string
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r.URL.RequestURI()
			w.WriteHeader(http.StatusNotFound)
		}))
		defer s.Close()
		_, err := at(t, s.URL+base, of("ernie"), model.Settings{Model: "completions", APIKey: "k"}).Generate(t.Context(), ask("How many?"), nil)
		if got != want {
			t.Errorf("%s: requested %s, want %s", base, got, want)
		}
		if err == nil || strings.Contains(err.Error(), "sk-none") {
			t.Errorf("%s: error %v", base, err)
		}
	}
}

// A canceled call returns no reply, unless it is already complete.
func TestCancelledCalls(t *testing.T) {
	for backend := range good {
		t.Run(backend, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.ReadAll(r.Body)
				cancel()
				<-r.Context().Done()
			}))
			defer s.Close()
			m := at(t, s.URL, of(backend), model.Settings{Model: "m", APIKey: "sk-secret"})
			for _, when := range []string{"during", "before"} {
				got, err := m.Generate(ctx, ask("How many?"), nil)
				if got != nil || !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "sk-secret") {
					t.Errorf("%s: reply %+v, error %v", when, got, err)
				}
			}
		})
	}
}

// body is a transport that always returns the same reply.
type body struct{ kind, text string }

func (b *body) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{Request: r, StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {b.kind}}, Body: io.NopCloser(strings.NewReader(b.text))}, nil
}

func (b *body) serve(s *httpclient.Settings) { s.Base, s.Breaker = b, nil }

// For any response, langchaingo's clients do not panic, and the result is a reply or a typed error.
func FuzzAnswers(f *testing.F) {
	for _, text := range good {
		f.Add(text)
	}
	var b body
	models := map[string]model.Model{}
	for backend := range good {
		c := of(backend)
		m, err := langchain.New(&c, model.Settings{Model: "m", APIKey: "k"}, b.serve)
		if err != nil {
			f.Fatal(err)
		}
		models[backend] = m
	}
	f.Fuzz(func(t *testing.T, text string) {
		for backend, m := range models {
			for kind, stream := range map[string]func(model.Delta){"application/json": nil, "text/event-stream": func(model.Delta) {}} {
				b.kind, b.text = kind, text
				got, err := m.Generate(t.Context(), ask("How many?"), stream)
				var e *model.Error
				if (got == nil) == (err == nil) || err != nil && !errors.As(err, &e) {
					t.Errorf("%s, %s: reply %+v, error %v", backend, kind, got, err)
				}
			}
		}
	})
}

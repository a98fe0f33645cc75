package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/openai"
)

// embedder serves vectors that identify their texts, in reverse order, and records the
// requests.
func embedder(t *testing.T, tokens int) (base string, asked *[]map[string]any) {
	t.Helper()
	asked = &[]map[string]any{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var body map[string]any
		if err := json.Unmarshal(raw, &body); err != nil || r.URL.Path != "/v1/embeddings" {
			t.Errorf("request to %s: %s", r.URL.Path, raw)
		}
		*asked = append(*asked, body)
		texts := body["input"].([]any)
		var data []string
		for i, text := range slices.Backward(texts) {
			data = append(data, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":[%d,0.5]}`, i, len(text.(string))))
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"object":"list","data":[%s],"model":"e-1","usage":{"prompt_tokens":%d,"total_tokens":%d}}`, strings.Join(data, ","), tokens, tokens)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1", asked
}

func embed(t *testing.T, base string, texts ...string) ([][]float64, model.Tokens, error) {
	t.Helper()
	m := at(t, base, defaults(), model.Settings{Model: "e-1", APIKey: "sk-a-secret-of-the-suite", Retry: retry.Policy{MaxAttempts: 2}})
	return m.(model.Embedder).Embed(t.Context(), texts)
}

func TestVectorsComeInTheOrderOfTheTexts(t *testing.T) {
	base, asked := embedder(t, 7)
	got, used, err := embed(t, base, "a", "bbb", "cc")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]float64{{1, 0.5}, {3, 0.5}, {2, 0.5}}, got); diff != "" {
		t.Error(diff)
	}
	if used.Input != 7 || used.Output != 0 {
		t.Errorf("used %+v", used)
	}
	want := []map[string]any{{"model": "e-1", "input": []any{"a", "bbb", "cc"}, "encoding_format": "float"}}
	if diff := cmp.Diff(want, *asked); diff != "" {
		t.Error(diff)
	}
}

func TestManyTextsGoInBatches(t *testing.T) {
	base, asked := embedder(t, 0)
	texts := make([]string, 750)
	for i := range texts {
		texts[i] = strings.Repeat("x", i%7+1)
	}
	texts[560] = strings.Repeat("y", 900_000) // more tokens than one request takes beside others
	got, used, err := embed(t, base, texts...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range texts {
		if got[i][0] != float64(len(texts[i])) {
			t.Fatalf("vector %d is of another text", i)
		}
	}
	var sizes []int
	for _, r := range *asked {
		sizes = append(sizes, len(r["input"].([]any)))
	}
	if diff := cmp.Diff([]int{128, 128, 128, 128, 48, 1, 128, 61}, sizes); diff != "" {
		t.Error(diff)
	}
	if used.Input < 225_000 {
		t.Errorf("estimated usage is %d", used.Input)
	}
	if got, used, err := embed(t, base); err != nil || len(got) != 0 || used.Total() != 0 || len(*asked) != 8 {
		t.Errorf("no texts: %v, %v, %v", got, used, err)
	}
}

func TestInvalidVectorsAreErrors(t *testing.T) {
	one := `{"index":0,"embedding":[1,2]}`
	for _, c := range []struct {
		name   string
		status int
		body   string
		kind   model.ErrorKind
		asked  int
		text   string
	}{
		{"refused", 401, `{"error":{"message":"bad key sk-a-secret-of-the-suite"}}`, model.AuthError, 1, "bad key"},
		{"too fast", 429, `{"error":{"message":"slow down"}}`, model.RateLimited, 2, "slow down"},
		{"no such place", 404, `{"error":{"message":"nope"}}`, model.NotFound, 1, "/v1"},
		{"an error with 200", 200, `{"error":{"message":"out of memory","code":500}}`, model.ServerError, 2, "out of memory"},
		{"no JSON", 200, `<html>hello</html>`, model.BadReply, 1, "hello"},
		{"too few", 200, `{"data":[` + one + `]}`, model.BadReply, 1, "1 vectors for 2 texts"},
		{"twice the same", 200, `{"data":[` + one + `,` + one + `]}`, model.BadReply, 1, "sent twice"},
		{"beyond", 200, `{"data":[` + one + `,{"index":2,"embedding":[1,2]}]}`, model.BadReply, 1, "vector 2 of 2"},
		{"another length", 200, `{"data":[` + one + `,{"index":1,"embedding":[1]}]}`, model.BadReply, 1, "another length"},
		{"empty", 200, `{"data":[{"index":0,"embedding":[]},` + one + `]}`, model.BadReply, 1, "empty"},
		{"no numbers", 200, `{"data":[{"index":0,"embedding":["a"]},` + one + `]}`, model.BadReply, 1, "cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, asked := refusing(t, c.status, c.body)
			_, _, err := embed(t, base, "a", "b")
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != c.kind || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), "sk-a-secret") {
				t.Errorf("error %v", err)
			}
			if *asked != c.asked {
				t.Errorf("%d requests, want %d", *asked, c.asked)
			}
		})
	}
}

// With a budget, a request that may have been billed is not retried; a refused one is.
func TestMeteredVectorsAreNotRequestedAgainIfBilled(t *testing.T) {
	for _, tt := range []struct {
		name           string
		refuse         bool
		metered, plain int32
	}{{"broken off", false, 1, 2}, {"refused", true, 2, 2}} {
		t.Run(tt.name, func(t *testing.T) {
			var asked atomic.Int32
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				if _, err := io.Copy(io.Discard, r.Body); err != nil {
					t.Error(err)
				}
				if tt.refuse {
					w.WriteHeader(http.StatusTooManyRequests)
					return
				}
				panic(http.ErrAbortHandler)
			}))
			defer s.Close()
			m := at(t, s.URL+"/v1", defaults(), model.Settings{Model: "e-1", APIKey: "k", Retry: retry.Policy{MaxAttempts: 2}}).(model.Embedder)
			for _, c := range []struct {
				ctx  context.Context
				want int32
			}{{model.WithMeter(t.Context()), tt.metered}, {t.Context(), tt.plain}} {
				asked.Store(0)
				if _, _, err := m.Embed(c.ctx, []string{"a"}); err == nil || asked.Load() != c.want {
					t.Errorf("%d requests, want %d: %v", asked.Load(), c.want, err)
				}
			}
		})
	}
}

func TestVectorsWithoutIndexesComeInOrder(t *testing.T) {
	base, _ := refusing(t, 200, `{"data":[{"embedding":[1]},{"embedding":[2]}]}`)
	got, used, err := embed(t, base, "aaaa", "b")
	if diff := cmp.Diff([][]float64{{1}, {2}}, got); diff != "" || err != nil || used.Input != 2 {
		t.Errorf("%v, used %+v: %s", err, used, diff)
	}
}

func TestEmbeddingRespectsContextAndRequiresKey(t *testing.T) {
	base, _ := embedder(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := at(t, base, defaults(), model.Settings{}).(model.Embedder).Embed(ctx, []string{"a"})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	c := defaults()
	m, err := openai.New(&c, model.Settings{Model: "e-1"}, func(*httpclient.Settings) {})
	if err != nil {
		t.Fatal(err)
	}
	var e *model.Error
	if _, _, err := m.(model.Embedder).Embed(t.Context(), []string{"a"}); !errors.As(err, &e) || e.Kind != model.AuthError {
		t.Error(err)
	}
}

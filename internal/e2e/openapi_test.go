package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl/schema"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/e2e"
	"github.com/pexctl/pex/providers/openai"
)

// described compiles a schema of OpenAI's API description. Unknown fields are violations.
func described(t *testing.T, name string) *schema.Schema {
	t.Helper()
	raw, err := os.ReadFile("testdata/openapi/openai.json")
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile(fmt.Appendf(nil, `{"$ref": "#/$defs/%s", "unevaluatedProperties": false, "$defs": %s}`, name, raw))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sentBodies returns the bodies of the requests that ask makes to a server at base.
func sentBodies(t *testing.T, ask func(base string) error) (bodies []string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(raw))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices": [{"message": {"content": "x"}}], "data": [{"embedding": [1]}]}`)
	}))
	defer s.Close()
	if err := ask(s.URL); err != nil {
		t.Fatal(err)
	}
	if len(bodies) == 0 {
		t.Fatal("no request was made")
	}
	return bodies
}

func openaiModel(base string, change func(*openai.Config)) (model.Model, error) {
	c := openai.OpenAI.Config().(*openai.Config)
	change(c)
	return openai.Build(c, model.Settings{Model: "gpt-4.1-mini", BaseURL: base, APIKey: "sk-1234"})
}

// The requests of the provider openai conform to OpenAI's API description.
func TestRequestsConformToTheDescriptionOfTheAPI(t *testing.T) {
	chat := described(t, "CreateChatCompletionRequest")
	no := false
	for how, change := range map[string]func(*openai.Config){
		"defaults":  func(*openai.Config) {},
		"reasoning": func(c *openai.Config) { c.ReasoningEffort, c.LegacyMaxTokens = "low", &no },
		"JSON mode": func(c *openai.Config) { c.StructuredOutput, c.StreamUsage = "json_object", false },
	} {
		for name, req := range e2e.Requests() {
			t.Run(how+"/"+name, func(t *testing.T) {
				for _, stream := range []func(model.Delta){nil, func(model.Delta) {}} {
					for _, body := range sentBodies(t, func(base string) error {
						m, err := openaiModel(base, change)
						if err == nil {
							_, err = m.Generate(t.Context(), req, stream)
						}
						return err
					}) {
						conforms(t, chat, body)
					}
				}
			})
		}
	}
}

func TestRequestsForVectorsConformToTheDescriptionOfTheAPI(t *testing.T) {
	s := described(t, "CreateEmbeddingRequest")
	for _, body := range sentBodies(t, func(base string) error {
		m, err := openaiModel(base, func(*openai.Config) {})
		if err == nil {
			_, _, err = m.(model.Embedder).Embed(t.Context(), []string{"moss"})
		}
		return err
	}) {
		conforms(t, s, body)
	}
}

func conforms(t *testing.T, s *schema.Schema, body string) {
	t.Helper()
	v, err := schema.Decode([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(v); err != nil {
		t.Errorf("%v in %s", err, body)
	}
}

// The description rejects what the API rejects; otherwise the tests above show nothing.
func TestTheDescriptionOfTheAPIRejectsOtherRequests(t *testing.T) {
	s := described(t, "CreateChatCompletionRequest")
	for name, fields := range map[string]string{
		"an unknown field":       `"top_k": 5`,
		"another type":           `"temperature": "hot"`,
		"too many stop words":    `"stop": ["a", "b", "c", "d", "e"]`,
		"an unknown role":        `"messages": [{"role": "robot", "content": "x"}]`,
		"a call without its id":  `"messages": [{"role": "tool", "content": "x"}]`,
		"a tool without a name":  `"tools": [{"type": "function", "function": {}}]`,
		"a schema without name":  `"response_format": {"type": "json_schema", "json_schema": {}}`,
		"arguments as an object": `"messages": [{"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": {}}}]}]`,
	} {
		t.Run(name, func(t *testing.T) {
			var body, more map[string]any
			if err := json.Unmarshal([]byte(`{"model": "m", "messages": [{"role": "user", "content": "x"}]}`), &body); err != nil {
				t.Fatal(err)
			}
			if err := json.NewDecoder(strings.NewReader("{" + fields + "}")).Decode(&more); err != nil {
				t.Fatal(err)
			}
			maps.Copy(body, more)
			raw, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			v, err := schema.Decode(raw)
			if err != nil {
				t.Fatal(err)
			}
			if s.Validate(v) == nil {
				t.Errorf("%s is valid", raw)
			}
		})
	}
}

//go:build e2e && unix

package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/e2e"
	"github.com/pexctl/pex/providers/openai"
)

// ofVendor is a model at the mock by one of the vendors' factories.
func ofVendor(t *testing.T, build func(model.Settings) (model.Model, error), flags ...string) model.Model {
	t.Helper()
	base, err := url.Parse(e2e.Aimock(t, "testdata/aimock.json", flags...))
	if err != nil {
		t.Fatal(err)
	}
	m, err := build(model.Settings{Name: "main", Model: "mock", BaseURL: "http://" + base.Host, APIKey: "of-nothing", Timeout: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestE2EVendorsOfOpenAIsProtocol(t *testing.T) {
	azure := func(version string) func(model.Settings) (model.Model, error) {
		return func(s model.Settings) (model.Model, error) {
			c := openai.AzureOpenAI.Config().(*openai.AzureConfig)
			c.APIVersion = version
			return openai.AzureOpenAI.Build(c, s)
		}
	}
	for name, build := range map[string]func(model.Settings) (model.Model, error){
		"azure_v1":    azure(""),
		"azure_dated": azure("2024-10-21"),
		"ollama": func(s model.Settings) (model.Model, error) {
			return openai.Ollama.Build(openai.Ollama.Config(), s)
		},
		"mistral": func(s model.Settings) (model.Model, error) {
			return openai.Mistral.Build(openai.Mistral.Config(), s)
		},
	} {
		m := ofVendor(t, build, "--chunk-size", "3")
		for _, streamed := range []bool{false, true} {
			for _, tools := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s,streamed=%v,tools=%v", name, streamed, tools), func(t *testing.T) {
					r, err := generate(t, m, mockRequest(tools), streamed)
					if err != nil {
						t.Fatal(err)
					}
					if wrong := right(r, tools); wrong != "" {
						t.Error(wrong)
					}
				})
			}
		}
	}
}

// A real Ollama: plans under a grammar, and what it says of a model that it
// does not have, and of one that calls no tools.
func TestE2EOllamaByItsOwnProvider(t *testing.T) {
	base := strings.TrimSuffix(e2e.Ollama(t, "../../testdata/models/tiny.gguf"), "/v1")
	at := func(llm string) model.Model {
		m, err := openai.Ollama.Build(openai.Ollama.Config(), model.Settings{Name: "main", Model: llm, BaseURL: base, Timeout: 30 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	req := ask("Plan.")
	seed := int64(7)
	req.Params = model.Params{Seed: &seed, MaxOutputTokens: 1200}
	req.Schema = &model.ReplySchema{Name: "plan", Schema: json.RawMessage(planSchema)}
	for _, streamed := range []bool{false, true} {
		r, err := generate(t, at("tiny"), req, streamed)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid([]byte(r.Text)) || r.Stop != model.EndTurn || r.Estimated {
			t.Errorf("reply %+v", r)
		}
	}
	_, err := generate(t, at("not-here"), ask("Hello."), false)
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.NotFound || !strings.Contains(e.Message, "ollama pull not-here") {
		t.Errorf("error %v", err)
	}
	_, err = generate(t, at("tiny"), weatherRequest(), false)
	if !errors.As(err, &e) || e.Kind != model.BadRequest || !strings.Contains(e.Message, "executor.mode: react_text") {
		t.Errorf("error %v", err)
	}
}

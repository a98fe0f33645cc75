package langchain

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/maritaca"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/wire"
	"github.com/pexctl/pex/providers/call"
)

// maritacaBackend is Maritaca's inference API. The client sends no
// temperature, and drops each piece of a stream that holds the word "data:", so
// it does not stream.
var maritacaBackend = &backend{
	name: "maritaca",
	base: "https://chat.maritaca.ai/api",
	key:  "MARITACA_API_KEY",
	path: func(p place) (string, error) {
		if p.model == "" {
			return "", errors.New("the llm has no model: write one, such as sabia-4")
		}
		return "/chat/inference", nil
	},
	client: func() (llms.Model, error) { return maritaca.New(maritaca.WithHTTPClient(throughDoor)) },
	sign:   func(key string, r *http.Request) { r.Header.Set("Authorization", "Key "+key) },
	fields: fields{model: "model", temperature: "temperature", topP: "top_p", most: "max_tokens", stop: "stopping_tokens"},
	patch: func(_ *engine.Request, body map[string]any) {
		set(body, "format", nil, false) // an empty one is sent
	},
	read: func(answer []byte, into *draft) error {
		var a struct {
			Answer *string
			Model  string
			Usage  counted
			Detail json.RawMessage
		}
		err := json.Unmarshal(answer, &a)
		switch {
		case err == nil && a.Answer == nil && given(a.Detail):
			return reported(answer)
		case err != nil || a.Answer == nil:
			return call.Bad("the server's answer is none of Maritaca's: %s", wire.Explain(answer))
		}
		into.model, into.usage = a.Model, a.Usage.tokens()
		return nil
	},
}

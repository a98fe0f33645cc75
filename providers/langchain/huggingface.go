package langchain

import (
	"encoding/json"
	"errors"
	"net/url"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/huggingface"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/wire"
	"github.com/pexctl/pex/providers/call"
)

// huggingfaceBackend is Hugging Face's router to inference providers. (The
// Inference API, which the client asks by default, makes no texts any more.)
// The client sends the first message alone, as the user's, no temperature 0,
// seed or stop, and drops all but the text.
var huggingfaceBackend = &backend{
	name: "huggingface",
	base: "https://router.huggingface.co",
	key:  "HF_TOKEN",
	path: func(p place) (string, error) {
		if p.model == "" {
			return "", errors.New("the llm has no model: write one, such as meta-llama/Llama-3.1-8B-Instruct")
		}
		if p.inference == "" {
			return "/v1/chat/completions", nil
		}
		return "/" + url.PathEscape(p.inference) + "/v1/chat/completions", nil
	},
	client: func() (llms.Model, error) { // which reads a token of the machine, and drops it for ours
		return huggingface.New(huggingface.WithToken(unused), huggingface.WithModel(unused), huggingface.WithHTTPClient(throughDoor), huggingface.WithInferenceProvider(unused))
	},
	fields: fields{model: "model", temperature: "temperature", topP: "top_p", seed: "seed", most: "max_tokens", stop: "stop"},
	patch: func(req *engine.Request, body map[string]any) {
		body["messages"] = turns(req.Messages)
	},
	read: readHuggingface,
}

func readHuggingface(answer []byte, into *draft) error {
	var a struct {
		ID, Model string
		Choices   []struct {
			Message *struct{ Content *string }
			Finish  string `json:"finish_reason"`
		}
		Usage counted
		Error json.RawMessage
	}
	err := json.Unmarshal(answer, &a)
	switch {
	case err == nil && given(a.Error):
		return reported(answer)
	case err != nil || len(a.Choices) == 0 || a.Choices[0].Message == nil:
		return call.Bad("the server's answer is none of chat completions: %s", wire.Explain(answer))
	}
	into.id, into.model, into.usage = a.ID, a.Model, a.Usage.tokens()
	switch a.Choices[0].Finish {
	case "length", "max_tokens", "model_length":
		into.stop = engine.MaxTokens
	case "content_filter":
		into.stop = engine.ContentFiltered
	case "stop_sequence":
		into.stop = engine.StopSequence
	case "stop", "eos_token":
		into.stop = engine.EndTurn
	}
	return nil
}

package langchain

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/llamafile"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/wire"
	"github.com/pexctl/pex/providers/call"
)

// llamafileBackend is the completion endpoint of a llamafile's, or llama.cpp's,
// server. The client writes the prompt in the form of Llama 2, with the mark of
// the text's end behind it, makes temperature 0 into 0.7, and drops all but the
// text. The server sends the prompt back, which is longer than the client's
// lines may be.
var llamafileBackend = &backend{
	name:   "llamafile",
	base:   "http://127.0.0.1:8080",
	path:   func(place) (string, error) { return "/completion", nil },
	client: func() (llms.Model, error) { return llamafile.New(llamafileThrough(throughDoor)) },
	fields: fields{model: "model", temperature: "temperature", topP: "top_p", seed: "seed", most: "n_predict", stop: "stop"},
	patch: func(_ *engine.Request, body map[string]any) {
		if prompt, ok := body["prompt"].(string); ok { // nothing is said behind the end; the server sets the mark of the beginning
			body["prompt"] = strings.TrimSuffix(strings.TrimPrefix(prompt, "<s>"), "</s>")
		}
	},
	read:   readLlamafile,
	spared: []string{"prompt", "generation_settings"},
	event:  readLlamafile,
}

// llamafileThrough is the option for the HTTP client, which the package lacks,
// and for an address, which it takes from the environment else. The type that
// its options change has no name outside of it.
func llamafileThrough(door *http.Client) llamafile.Option {
	set := func(args []reflect.Value) []reflect.Value {
		options := args[0].Elem()
		options.FieldByName("HTTPClient").Set(reflect.ValueOf(door))
		options.FieldByName("LlamafileServerURL").Set(reflect.ValueOf(nowhere))
		return nil
	}
	return reflect.MakeFunc(reflect.TypeFor[llamafile.Option](), set).Interface().(llamafile.Option)
}

func readLlamafile(answer []byte, into *draft) error {
	var a struct {
		Content *string
		Model   string
		Stop    bool
		Kind    string `json:"stop_type"`
		Limit   bool   `json:"stopped_limit"`
		Word    bool   `json:"stopped_word"`
		Cut     bool   `json:"truncated"`
		Input   int    `json:"tokens_evaluated"`
		Output  int    `json:"tokens_predicted"`
		Error   json.RawMessage
	}
	err := json.Unmarshal(answer, &a)
	switch {
	case err == nil && given(a.Error):
		return reported(answer)
	case err != nil || a.Content == nil:
		return call.Bad("the server's answer is none of /completion: %s", wire.Explain(answer))
	}
	if into.piece = *a.Content; !a.Stop {
		return nil // more of the stream comes
	}
	into.ended, into.model, into.usage = true, a.Model, engine.Tokens{Input: a.Input, Output: a.Output}
	switch {
	case a.Limit || a.Cut || a.Kind == "limit":
		into.stop = engine.MaxTokens
	case a.Word || a.Kind == "word":
		into.stop = engine.StopSequence
	default:
		into.stop = engine.EndTurn
	}
	return nil
}

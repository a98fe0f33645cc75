package langchain

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/cloudflare"

	"github.com/pexctl/pex/internal/wire"
	"github.com/pexctl/pex/providers/call"
)

// cloudflareBackend is Workers AI by /ai/run. The client sends no parameters,
// and drops usage and the failure of an answer with status 200.
var cloudflareBackend = &backend{
	name: "cloudflare",
	base: "https://api.cloudflare.com/client/v4",
	key:  "CLOUDFLARE_API_TOKEN",
	most: 256, // Workers AI's default, for most of its models
	path: func(p place) (string, error) {
		if p.account == "" {
			return "", errors.New("options.account_id is empty: set the variable that it names")
		}
		if p.model == "" {
			return "", errors.New("the llm has no model: write one, such as @cf/meta/llama-3.1-8b-instruct")
		}
		return "/accounts/" + url.PathEscape(p.account) + "/ai/run/" + escapedPath(p.model), nil
	},
	client: func() (llms.Model, error) {
		return cloudflare.New(cloudflare.WithCloudflareServerURL(nowhere), cloudflare.WithHTTPClient(throughDoor))
	},
	fields: fields{temperature: "temperature", topP: "top_p", seed: "seed", most: "max_tokens"},
	read:   readCloudflare,
	event:  readCloudflarePiece,
}

// cloudflareAnswer is the frame of answers, and of events that are errors.
type cloudflareAnswer struct {
	Success *bool
	Errors  []struct{ Message string }
}

// fault is the error that an answer is, where it is one.
func (a cloudflareAnswer) fault(text []byte) error {
	if len(a.Errors) == 0 && (a.Success == nil || *a.Success) {
		return nil
	}
	e := reported(text)
	if len(a.Errors) > 0 && a.Errors[0].Message != "" {
		e.Message = a.Errors[0].Message
		e.Kind = cmp.Or(words.Kind(e.Message), e.Kind)
	}
	return e
}

func readCloudflarePiece(event []byte, into *draft) error {
	var a struct {
		cloudflareAnswer
		Response *string
		Usage    *counted
		Choices  []json.RawMessage
	}
	if err := json.Unmarshal(event, &a); err != nil {
		return call.Bad("an event of the stream is none of Workers AI: %s", wire.Explain(event))
	}
	if err := a.fault(event); err != nil {
		return err
	}
	switch {
	case a.Response != nil:
		into.piece = *a.Response
	case len(a.Choices) > 0:
		return likeOpenAI()
	}
	if a.Usage != nil {
		into.usage = a.Usage.tokens()
	}
	return nil
}

// likeOpenAI is the failure of a model whose replies are not in the fields that
// the client reads.
func likeOpenAI() error {
	return call.Bad("this model answers as OpenAI's do: use provider openai with base_url https://api.cloudflare.com/client/v4/accounts/ACCOUNT/ai/v1")
}

func readCloudflare(answer []byte, into *draft) error {
	var a struct {
		cloudflareAnswer
		Result *struct {
			Response json.RawMessage
			Usage    counted
			Choices  json.RawMessage
		}
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return call.Bad("the server's answer is none of Workers AI: %s", wire.Explain(answer))
	}
	if err := a.fault(answer); err != nil {
		return err
	}
	switch r := a.Result; {
	case r == nil:
		return call.Bad("the server's answer is none of Workers AI: %s", wire.Explain(answer))
	case given(r.Choices) && !given(r.Response):
		return likeOpenAI()
	case len(r.Response) == 0 || r.Response[0] != '"':
		return call.Bad("the reply is no text: %.200s", r.Response)
	default:
		into.usage = r.Usage.tokens()
		return nil
	}
}

// escapedPath is a name with slashes as a part of an address.
func escapedPath(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

package langchain

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/ernie"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/wire"
	"github.com/pexctl/pex/providers/call"
)

// ernieBackend is Baidu Qianfan's API V1. The client sends the first message
// alone, a temperature of 0 that nobody asked for, no limit and no stop, asks
// ERNIE-Bot for every model whose name it does not know, and ends the process
// at a stream that it cannot read, so it does not stream. With a pair of keys
// it would leave a goroutine behind for ever: the key is an access token.
var ernieBackend = &backend{
	name: "ernie",
	base: "https://aip.baidubce.com/rpc/2.0/ai_custom/v1/wenxinworkshop/chat",
	key:  "ERNIE_ACCESS_TOKEN",
	path: func(p place) (string, error) {
		if p.model == "" {
			return "", errors.New("the llm has no model: write the last part of its address, such as completions_pro")
		}
		if known, ok := erniePaths[p.model]; ok {
			return "/" + known, nil
		}
		return "/" + url.PathEscape(p.model), nil
	},
	client: func() (llms.Model, error) {
		return ernie.New(ernie.WithAKSK("", ""), ernie.WithAccessToken(unused), ernie.WithHTTPClient(throughDoor))
	},
	sign: func(key string, r *http.Request) {
		query := r.URL.Query()
		query.Set("access_token", key)
		r.URL.RawQuery = query.Encode()
	},
	fields: fields{temperature: "temperature", topP: "top_p", most: "max_output_tokens", stop: "stop"},
	patch:  patchErnie,
	read:   readErnie,
}

// erniePaths are the addresses of models by the names that langchaingo has for them.
var erniePaths = map[string]string{
	ernie.ModelNameERNIEBot: "completions", ernie.ModelNameERNIEBotTurbo: "eb-instant", ernie.ModelNameERNIEBotPro: "completions_pro",
	ernie.ModelNameBloomz7B: "bloomz_7b1", ernie.ModelNameLlama2_7BChat: "llama_2_7b", ernie.ModelNameLlama2_13BChat: "llama_2_13b", ernie.ModelNameLlama2_70BChat: "llama_2_70b",
}

// patchErnie puts in the conversation; the system prompt stands apart.
func patchErnie(req *engine.Request, body map[string]any) {
	system, rest := call.Parted(req.Messages)
	set(body, "system", strings.Join(system, "\n\n"), len(system) > 0)
	body["messages"] = turns(rest)
}

func readErnie(answer []byte, into *draft) error {
	var a struct {
		ID     string
		Result *string
		Cut    bool   `json:"is_truncated"`
		Finish string `json:"finish_reason"`
		Usage  counted
		Code   int    `json:"error_code"`
		Said   string `json:"error_msg"`
	}
	err := json.Unmarshal(answer, &a)
	switch {
	case err == nil && a.Code != 0:
		return &engine.ModelError{Kind: ernieKind(a.Code, a.Said), Message: a.Said}
	case err != nil || a.Result == nil:
		return call.Bad("the server's answer is none of Qianfan's: %s", wire.Explain(answer))
	}
	into.id, into.usage = a.ID, a.Usage.tokens()
	switch {
	case a.Cut || a.Finish == "length":
		into.stop = engine.MaxTokens
	case a.Finish == "content_filter":
		into.stop = engine.ContentFiltered
	case a.Finish == "stop":
		into.stop = engine.StopSequence
	case a.Finish == "normal":
		into.stop = engine.EndTurn
	}
	return nil
}

// ernieKind is the class of an error by its number: refusals come with status 200.
func ernieKind(code int, said string) engine.ErrorKind {
	switch code {
	case 1, 336000:
		return engine.ServerError
	case 2, 336100:
		return engine.Overloaded
	case 4, 18, 336501, 336502:
		return engine.RateLimited
	case 6, 13, 14, 15, 17, 19, 100, 110, 111, 336004, 336005: // keys, permissions, and quotas that a wait does not fill
		return engine.AuthError
	case 3:
		return engine.NotFound
	case 336007, 336103:
		return engine.ContextTooLong
	}
	if kind := words.Kind(said); kind != "" {
		return kind
	}
	return engine.BadRequest
}

package langchain

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/ernie"
)

// exchange is one attempt. It is the transport of langchaingo's client for it.
type exchange struct {
	model *chatModel
	req   *model.Request
	url   *url.URL

	reply model.Reply // the parts of the reply that the client drops
	fault error       // an error in the reply, which the client may drop
}

// ask makes the attempt with a new client. The client receives neither key nor address, since it would search the
// environment for them.
func (x *exchange) ask(ctx context.Context) (*model.Reply, error) {
	client, err := ernie.New(ernie.WithAKSK("", ""), ernie.WithAccessToken("unused"), ernie.WithHTTPClient(&http.Client{Transport: x}))
	if err != nil {
		return nil, err
	}
	prompt := llms.TextParts(llms.ChatMessageTypeHuman, modelhttp.Transcript(x.req.Messages, true))
	out, err := client.GenerateContent(ctx, []llms.MessageContent{prompt})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case x.fault != nil:
		return nil, x.fault
	case err != nil:
		return nil, err
	}
	x.reply.Text = out.Choices[0].Content // read has checked that there is one
	return &x.reply, nil
}

// RoundTrip implements http.RoundTripper. It sends our request instead of the client's, and reads the reply before the
// client does.
func (x *exchange) RoundTrip(req *http.Request) (*http.Response, error) {
	_ = req.Body.Close() // not used
	answer, err := x.send(req.Context())
	if err == nil {
		err = x.read(answer)
	}
	if err != nil {
		x.fault = err
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(answer))}, nil
}

func (x *exchange) send(ctx context.Context) ([]byte, error) {
	body, err := x.model.body(x.req)
	if err != nil {
		return nil, badRequest(fmt.Errorf("options.extra_body cannot be encoded as JSON: %w", err))
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, x.url.String(), bytes.NewReader(body))
	if err != nil {
		return nil, badRequest(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if x.req.Key != "" {
		r.Header.Set("Idempotency-Key", x.req.Key)
	}
	if x.model.key != "" {
		query := r.URL.Query()
		query.Set("access_token", x.model.key)
		r.URL.RawQuery = query.Encode()
	}
	maps.Copy(r.Header, x.model.header)
	resp, err := x.model.calls.HTTP.HTTP().Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

// turn is a message of a conversation without tools.
type turn struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// turns converts messages to text, including tool calls and results. It joins consecutive messages of the same role,
// because many models require alternating roles.
func turns(messages []model.Message) []turn {
	var out []turn
	for _, m := range messages {
		role := string(m.Role)
		if m.Role == model.ToolRole {
			role = "user"
		}
		if last := len(out) - 1; last >= 0 && out[last].Role == role {
			out[last].Content += "\n\n" + modelhttp.MessageText(m)
			continue
		}
		out = append(out, turn{role, modelhttp.MessageText(m)})
	}
	return out
}

// answer is Qianfan's reply or, also with status 200, error.
type answer struct {
	ID     string
	Result *string
	Cut    bool   `json:"is_truncated"`
	Finish string `json:"finish_reason"`
	Usage  struct {
		Input  int `json:"prompt_tokens"`
		Output int `json:"completion_tokens"`
	}
	Code    int    `json:"error_code"`
	Message string `json:"error_msg"`
}

// read extracts from a reply what the client drops.
func (x *exchange) read(body []byte) error {
	var a answer
	err := json.Unmarshal(body, &a)
	switch {
	case err == nil && a.Code != 0:
		return &model.Error{Kind: kindOf(a.Code, a.Message), Message: a.Message}
	case err != nil || a.Result == nil:
		return modelhttp.Bad("the server's reply is not in Qianfan's format: %s", modelhttp.ErrorBody(body))
	}
	x.reply.ID, x.reply.Stop = a.ID, x.stopReason(&a)
	if u := a.Usage; modelhttp.Plausible(u.Input, u.Output) {
		x.reply.Usage = model.Tokens{Input: u.Input, Output: u.Output}
	}
	return nil
}

// stopReason returns why the model stopped. A reply of the maximum length counts as truncated unless the server gives
// another reason.
func (x *exchange) stopReason(a *answer) model.StopReason {
	limit := x.req.Params.MaxOutputTokens
	switch {
	case a.Cut || a.Finish == "length":
		return model.MaxTokens
	case a.Finish == "content_filter":
		return model.ContentFiltered
	case a.Finish == "stop":
		return model.StopSequence
	case a.Finish != "normal" && limit > 0 && a.Usage.Output >= limit:
		return model.MaxTokens
	}
	return model.EndTurn
}

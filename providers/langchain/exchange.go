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

// exchange is one attempt, and the transport of langchaingo's client in it.
type exchange struct {
	model *chatModel
	req   *model.Request
	to    *url.URL

	reply model.Reply // what the client drops of the answer
	fault error       // what is wrong with the answer, which the client may lose
}

// ask makes the attempt. The client is made for each: it is told neither a key
// nor an address, which it would look for in the environment.
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
	x.reply.Text = out.Choices[0].Content // answer has seen that there is one
	return &x.reply, nil
}

// RoundTrip implements http.RoundTripper: it sends our request in place of the
// client's, and reads the answer before the client does.
func (x *exchange) RoundTrip(req *http.Request) (*http.Response, error) {
	_ = req.Body.Close() // it is replaced
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
		return nil, badRequest(fmt.Errorf("options.extra_body is no JSON: %w", err))
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, x.to.String(), bytes.NewReader(body))
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

// turns are messages whose calls and results of tools are put into words.
// Messages of one role in a row become one: many models want alternating turns.
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

// answer is Qianfan's, also to what it refuses with status 200.
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

// read takes from an answer what the client drops.
func (x *exchange) read(body []byte) error {
	var a answer
	err := json.Unmarshal(body, &a)
	switch {
	case err == nil && a.Code != 0:
		return &model.Error{Kind: kindOf(a.Code, a.Message), Message: a.Message}
	case err != nil || a.Result == nil:
		return modelhttp.Bad("the server's answer is none of Qianfan's: %s", modelhttp.ErrorBody(body))
	}
	x.reply.ID, x.reply.Stop = a.ID, x.stopped(&a)
	if u := a.Usage; modelhttp.Plausible(u.Input, u.Output) {
		x.reply.Usage = model.Tokens{Input: u.Input, Output: u.Output}
	}
	return nil
}

// stopped is why the model stopped. A reply that is as long as it may be was
// cut, where the server does not say why it ended.
func (x *exchange) stopped(a *answer) model.StopReason {
	most := x.req.Params.MaxOutputTokens
	switch {
	case a.Cut || a.Finish == "length":
		return model.MaxTokens
	case a.Finish == "content_filter":
		return model.ContentFiltered
	case a.Finish == "stop":
		return model.StopSequence
	case a.Finish != "normal" && most > 0 && a.Usage.Output >= most:
		return model.MaxTokens
	}
	return model.EndTurn
}

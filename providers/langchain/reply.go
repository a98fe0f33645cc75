package langchain

import "github.com/pexctl/pex/engine"

// draft is what langchaingo's clients drop of an answer.
type draft struct {
	id, model string
	stop      engine.StopKind // "" = the server does not say
	usage     engine.Tokens
	piece     string // what an event of a stream says
	ended     bool   // the stream came to its end
}

// reply makes the engine's reply.
func (x *exchange) reply(req *engine.Request, text string) *engine.Reply {
	d := &x.draft
	out := &engine.Reply{ID: d.id, Model: d.model, Text: text, Usage: believed(d.usage), FirstToken: x.first}
	out.Stop = x.stopped(out.Usage.Output)
	if out.Usage.Total() == 0 {
		out.Estimated = true
		out.Usage.Input = req.Estimate()
		out.Usage.Output = out.Estimate()
	}
	return out
}

// stopped is why the model stopped. Of a server that does not say, a reply
// that is as long as it may be was cut.
func (x *exchange) stopped(output int) engine.StopKind {
	asked, usual := x.req.Params.MaxOutputTokens, x.model.backend.most
	switch {
	case x.draft.stop != "":
		return x.draft.stop
	case asked > 0 && output >= asked, asked == 0 && usual > 0 && output == usual:
		return engine.MaxTokens
	}
	return engine.EndTurn
}

// believed are counts; nonsense counts as missing.
func believed(t engine.Tokens) engine.Tokens {
	const most = 1 << 40
	for _, n := range []int{t.Input, t.Output, t.Cached, t.Reasoning} {
		if n < 0 || n > most {
			return engine.Tokens{}
		}
	}
	return t
}

// counted are the token counts that OpenAI's protocol has, which others took over.
type counted struct {
	Input   int `json:"prompt_tokens"`
	Output  int `json:"completion_tokens"`
	OfInput struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	OfOutput struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (c counted) tokens() engine.Tokens {
	return engine.Tokens{Input: c.Input, Output: c.Output, Cached: c.OfInput.Cached, Reasoning: c.OfOutput.Reasoning}
}

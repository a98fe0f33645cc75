package enginetest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine/model"
)

// scenarios are the scenarios of ExchangeSuite; each has a file of its name.
var scenarios = []scenario{
	{name: "text", run: (*conversation).text},
	{name: "system_prompt", run: (*conversation).systemPrompt},
	{name: "tools", run: func(x *conversation) { x.tools(false) }},
	{name: "streamed_text", run: (*conversation).streamedText},
	{name: "streamed_tools", run: func(x *conversation) { x.tools(true) }},
	{name: "schema", run: (*conversation).schema},
	{name: "max_tokens", run: (*conversation).maxTokens},
	{name: "stop_sequence", run: (*conversation).stopSequence},
	{name: "temperature", run: (*conversation).temperature},
	{name: "top_p", run: (*conversation).topP},
	{name: "cache", run: (*conversation).cache},
	{name: "thinking", run: (*conversation).thinking},
	{name: "wrong_key", change: wrongKey, run: func(x *conversation) { x.wantError(newRequest("", pong), model.AuthError) }},
	{name: "unknown_model", change: unknownModel, run: func(x *conversation) { x.wantError(newRequest("", pong), model.NotFound) }},
}

func findScenario(name string) *scenario {
	for i := range scenarios {
		if scenarios[i].name == name {
			return &scenarios[i]
		}
	}
	return nil
}

const pong = "Reply with the single word: pong"

func (x *conversation) text() {
	r := x.reply(newRequest("", pong), false)
	x.wantWords(r, "pong")
	x.wantStop(r, model.EndTurn)
}

func (x *conversation) systemPrompt() {
	r := x.reply(newRequest("Whatever you are asked, your whole reply is the single word banana.", "What is the capital of France?"), false)
	x.wantWords(r, "banana")
	x.wantStop(r, model.EndTurn)
}

func (x *conversation) streamedText() {
	r := x.reply(newRequest("", "Say in one sentence of about twenty words what moss is, with the word moss in it."), true)
	x.wantWords(r, "moss")
	x.wantStop(r, model.EndTurn)
	if r.FirstToken > r.Latency {
		x.Errorf("first token after %v of %v", r.FirstToken, r.Latency)
	}
}

var weather = model.ToolDef{
	Name: "weather", Description: "The weather in a city, now.",
	Input: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}`),
}

var forecast = map[string]string{"oslo": "12 degrees, rain", "lima": "24 degrees, sun"}

// tools runs until the model answers. Most models make both calls at once, some one by
// one.
func (x *conversation) tools(streamed bool) {
	req := newRequest("", "How many degrees is it in Oslo and in Lima? Ask the weather tool for both cities at once, then tell me both numbers.")
	req.Tools, req.ParallelTools = []model.ToolDef{weather}, true
	asked := map[string]bool{}
	for range 4 {
		r := x.reply(req, streamed)
		if len(r.Calls) == 0 {
			x.wantWords(r, "12", "24")
			x.wantStop(r, model.EndTurn)
			break
		}
		req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Text: model.Text{r.Text}, Calls: r.Calls})
		for _, c := range r.Calls {
			var args struct{ City string }
			_ = json.Unmarshal(c.Args, &args) // checked by generate
			city := strings.ToLower(args.City)
			asked[city] = true
			result := model.Message{Role: model.ToolRole, CallID: c.ID, Tool: c.Name, Text: model.Text{forecast[city]}}
			if c.Name != weather.Name || forecast[city] == "" {
				x.Errorf("call of %s(%s)", c.Name, c.Args)
				result.Text, result.IsError = model.Text{"no such city"}, true
			}
			req.Messages = append(req.Messages, result)
		}
	}
	if len(asked) != len(forecast) {
		x.Errorf("asked for the weather in %v", asked)
	}
}

// schema checks the form even of a model with random weights.
func (x *conversation) schema() {
	req := newRequest("", "Which of the two cities Oslo and Lima is in Peru? Answer as JSON with the members city and capital.")
	req.Schema = &model.ReplySchema{Name: "city", Schema: json.RawMessage(
		`{"type":"object","properties":{"city":{"type":"string","enum":["Oslo","Lima"]},"capital":{"type":"boolean"}},"required":["city","capital"],"additionalProperties":false}`,
	)}
	r := x.reply(req, false)
	var got struct {
		City    string
		Capital *bool
	}
	from, to := strings.Index(r.Text, "{"), strings.LastIndex(r.Text, "}") // without native support a model may add a code fence
	if from < 0 || to < from || json.Unmarshal([]byte(r.Text[from:to+1]), &got) != nil || got.Capital == nil || got.City != "Lima" && got.City != "Oslo" {
		x.Fatalf("reply %q does not match the schema", r.Text)
	}
	x.wantWords(r, "Lima")
}

func (x *conversation) maxTokens() {
	req := newRequest("", "Count from one to two hundred in words.")
	req.Params.MaxOutputTokens = 16
	r := x.reply(req, false)
	cut := r.Stop == model.MaxTokens || x.noise && r.Stop == model.EndTurn // a model with random weights may end anywhere
	if !cut || r.Usage.Output > 16+1 {                                     // some servers count the end token
		x.Errorf("stop %s after %d tokens: %q", r.Stop, r.Usage.Output, r.Text)
	}
}

func (x *conversation) stopSequence() {
	req := newRequest("", "Count from 1 to 9, with single spaces between.")
	req.Params.Stop = []string{"7"}
	r := x.reply(req, false)
	x.wantWords(r, "5 6")
	x.wantStop(r, model.EndTurn, model.StopSequence)
	if strings.Contains(r.Text, "7") {
		x.Errorf("the reply continues after the stop sequence: %q", r.Text)
	}
}

func (x *conversation) temperature() {
	zero, seed := 0.0, int64(7)
	req := newRequest("", pong)
	req.Params.Temperature, req.Params.Seed = &zero, &seed
	x.wantWords(x.reply(req, false), "pong")
}

func (x *conversation) topP() {
	p := 0.5
	req := newRequest("", pong)
	req.Params.TopP = &p
	x.wantWords(x.reply(req, false), "pong")
}

// cache makes two calls with the same long prefix. It does not require a cache hit, but
// checks that the counts are consistent.
func (x *conversation) cache() {
	var long strings.Builder
	for i := 1; i <= 60; i++ {
		fmt.Fprintf(&long, "Rule %d: the plant in row %d of the garden is watered on day %d of the month. ", i, i, 1+i%28)
	}
	for range 2 {
		r := x.reply(newRequest(long.String(), pong), false)
		x.wantWords(r, "pong")
		x.Logf("%d of %d tokens came from a cache", r.Usage.Cached, r.Usage.Input)
	}
}

func (x *conversation) thinking() {
	req := newRequest("", "What is 17 times 24? Reply with the number alone.")
	req.Params.MaxOutputTokens = 4000
	for _, streamed := range []bool{false, true} {
		r := x.reply(req, streamed)
		x.wantWords(r, "408")
		x.wantStop(r, model.EndTurn)
	}
}

// wrongKey replaces the key, including in the environment variables used by headers.
func wrongKey(s *model.Settings) {
	right, env := s.APIKey, s.Env
	s.APIKey = "not-the-key"
	s.Env = func(name string) string {
		if v := env(name); v != right {
			return v
		}
		return s.APIKey
	}
}

func unknownModel(s *model.Settings) { s.Model = "no-such-model" }

package openai_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/chaos"
	"github.com/pexctl/pex/internal/wire"
	"github.com/pexctl/pex/providers/openai"
)

const chaosUsage = `"usage":{"prompt_tokens":7171,"completion_tokens":7171,"total_tokens":7171}`

// chaosFormat is the protocol. That a reply has ended says finish_reason;
// [DONE] behind it is left out by some servers.
func chaosFormat() chaos.Format {
	chunk := func(delta, finish string) chaos.Event {
		return chaos.Event{JSON: `{"id":"c","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + `}]}`}
	}
	call := func(i int) string {
		return fmt.Sprintf(`{"index":%d,"id":"c%d","type":"function","function":{"name":"f","arguments":"{}"}}`, i, i)
	}
	done := chaos.Event{JSON: "[DONE]"}
	return chaos.Format{
		Whole: `{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"` + chaos.Answer + `"},"finish_reason":"stop"}],` + chaosUsage + `}`,
		Empty: `{"id":"c","choices":[]}`,
		Error: `{"error":{"message":"chaos","type":"server_error"}}`,
		Calls: func(n int) string {
			return `{"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[` + chaos.List(n, call) + `]},"finish_reason":"tool_calls"}]}`
		},
		Stream: &chaos.Stream{
			Kind: "text/event-stream", Frame: chaos.SSE, End: 3, Mark: 2, Harmless: []byte(": still here\n\n"),
			Events: []chaos.Event{
				chunk(`{"role":"assistant","content":""}`, "null"), chunk(`{"content":"`+chaos.First+`"}`, "null"), chunk(`{"content":"`+chaos.Rest+`"}`, "null"),
				chunk(`{}`, `"stop"`),
				{JSON: `{"id":"c","choices":[],` + chaosUsage + `}`},
				done,
			},
			Empty: []chaos.Event{{JSON: `{"id":"c","choices":[]}`}, done},
			Error: chaos.Event{JSON: `{"error":{"message":"chaos","type":"server_error"}}`},
			Calls: func(n int) []chaos.Event {
				return []chaos.Event{chunk(`{"tool_calls":[`+chaos.List(n, call)+`]}`, "null"), chunk(`{}`, `"tool_calls"`), done}
			},
		},
	}
}

func chaosModel(s model.Settings, change func(*wire.Settings)) (model.Model, error) {
	c := defaults()
	return openai.New(&c, s, change)
}

func TestChaos(t *testing.T) { chaos.Run(t, chaosFormat(), chaosModel) }

// TestChaosOfVendors is for what the vendors' dialects add.
func TestChaosOfVendors(t *testing.T) {
	for name, model := range map[string]chaos.Maker{
		"azure": func(s model.Settings, change func(*wire.Settings)) (model.Model, error) {
			c := azureDefaults()
			return openai.NewAzure(&c, s, change)
		},
		"mistral": func(s model.Settings, change func(*wire.Settings)) (model.Model, error) {
			c := mistralDefaults()
			return openai.NewMistral(&c, s, change)
		},
		"ollama": func(s model.Settings, change func(*wire.Settings)) (model.Model, error) {
			c := ollamaDefaults()
			return openai.NewOllama(&c, s, change)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := chaosFormat()
			f.Part = 10
			chaos.Run(t, f, model)
		})
	}
}

func TestChaosOnClock(t *testing.T) { chaos.RunOnClock(t, chaosFormat(), chaosModel) }

func TestCancelAtAnyByteIsAnError(t *testing.T) {
	whole, _ := bytes.CutSuffix(recorded(t, "text"), []byte("data: [DONE]\n\n"))
	chaos.Cancel(t, chaosFormat(), whole, chaosModel)
}

func TestChaosInMemory(t *testing.T) { chaos.RunInMemory(t, chaosFormat(), chaosModel) }

package openai_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/faultserver"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/openai"
)

const faultyUsage = `"usage":{"prompt_tokens":7171,"completion_tokens":7171,"total_tokens":7171}`

// faultyFormat describes the protocol. finish_reason ends a reply; some servers omit the
// [DONE] after it.
func faultyFormat() faultserver.Format {
	chunk := func(delta, finish string) faultserver.Event {
		return faultserver.Event{JSON: `{"id":"c","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + `}]}`}
	}
	call := func(i int) string {
		return fmt.Sprintf(`{"index":%d,"id":"c%d","type":"function","function":{"name":"f","arguments":"{}"}}`, i, i)
	}
	done := faultserver.Event{JSON: "[DONE]"}
	return faultserver.Format{
		Whole: `{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"` + faultserver.Answer + `"},"finish_reason":"stop"}],` + faultyUsage + `}`,
		Empty: `{"id":"c","choices":[]}`,
		Error: `{"error":{"message":"injected","type":"server_error"}}`,
		Calls: func(n int) string {
			return `{"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[` + faultserver.List(n, call) + `]},"finish_reason":"tool_calls"}]}`
		},
		Stream: &faultserver.Stream{
			Kind: "text/event-stream", Frame: faultserver.SSE, End: 3, Mark: 2, Harmless: []byte(": still here\n\n"),
			Events: []faultserver.Event{
				chunk(`{"role":"assistant","content":""}`, "null"), chunk(`{"content":"`+faultserver.First+`"}`, "null"), chunk(`{"content":"`+faultserver.Rest+`"}`, "null"),
				chunk(`{}`, `"stop"`),
				{JSON: `{"id":"c","choices":[],` + faultyUsage + `}`},
				done,
			},
			Empty: []faultserver.Event{{JSON: `{"id":"c","choices":[]}`}, done},
			Error: faultserver.Event{JSON: `{"error":{"message":"injected","type":"server_error"}}`},
			Calls: func(n int) []faultserver.Event {
				return []faultserver.Event{chunk(`{"tool_calls":[`+faultserver.List(n, call)+`]}`, "null"), chunk(`{}`, `"tool_calls"`), done}
			},
		},
	}
}

func faultyModel(s model.Settings, change func(*httpclient.Settings)) (model.Model, error) {
	c := defaults()
	return openai.New(&c, s, change)
}

func TestServerFaults(t *testing.T) { faultserver.Run(t, faultyFormat(), faultyModel) }

// TestServerFaultsOfVendors covers what the vendors' dialects add.
func TestServerFaultsOfVendors(t *testing.T) {
	for name, model := range map[string]faultserver.Maker{
		"azure": func(s model.Settings, change func(*httpclient.Settings)) (model.Model, error) {
			c := azureDefaults()
			return openai.NewAzure(&c, s, change)
		},
		"mistral": func(s model.Settings, change func(*httpclient.Settings)) (model.Model, error) {
			c := mistralDefaults()
			return openai.NewMistral(&c, s, change)
		},
		"ollama": func(s model.Settings, change func(*httpclient.Settings)) (model.Model, error) {
			c := ollamaDefaults()
			return openai.NewOllama(&c, s, change)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := faultyFormat()
			f.Part = 10
			faultserver.Run(t, f, model)
		})
	}
}

func TestServerFaultsOnClock(t *testing.T) { faultserver.RunOnClock(t, faultyFormat(), faultyModel) }

func TestCancelAtAnyByteIsAnError(t *testing.T) {
	whole, _ := bytes.CutSuffix(recorded(t, "text"), []byte("data: [DONE]\n\n"))
	faultserver.Cancel(t, faultyFormat(), whole, faultyModel)
}

func TestServerFaultsInMemory(t *testing.T) { faultserver.RunInMemory(t, faultyFormat(), faultyModel) }

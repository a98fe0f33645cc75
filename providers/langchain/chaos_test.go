package langchain_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/chaos"
	"github.com/pexctl/pex/internal/wire"
	"github.com/pexctl/pex/providers/langchain"
)

const chaosUsage = `"usage":{"prompt_tokens":7171,"completion_tokens":7171,"total_tokens":14342}`

// chaosFormats are the protocols. There are no tool calls in them.
func chaosFormats() map[string]chaos.Format {
	event := func(format string, args ...any) chaos.Event { return chaos.Event{JSON: fmt.Sprintf(format, args...)} }
	done := event("[DONE]")
	return map[string]chaos.Format{
		"cloudflare": {
			Whole: `{"success":true,"errors":[],"result":{"response":"` + chaos.Answer + `",` + chaosUsage + `}}`,
			Empty: `{"success":true,"errors":[],"result":null}`,
			Error: `{"success":false,"errors":[{"code":3,"message":"chaos"}],"result":null}`,
			Stream: &chaos.Stream{
				Kind: "text/event-stream", Frame: chaos.SSE, End: 1, Harmless: []byte(": still here\n\n"),
				Events: []chaos.Event{event(`{"response":"%s"}`, chaos.First), event(`{"response":"%s"}`, chaos.Rest), event(`{"response":"",%s}`, chaosUsage), done},
				Error:  event(`{"errors":[{"code":3,"message":"chaos"}]}`),
			},
		},
		"ernie": {
			Whole: `{"id":"c","result":"` + chaos.Answer + `","finish_reason":"normal",` + chaosUsage + `}`,
			Empty: `{"id":"c"}`,
			Error: `{"error_code":1,"error_msg":"chaos"}`,
		},
		"huggingface": {
			Whole: `{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"` + chaos.Answer + `"},"finish_reason":"stop"}],` + chaosUsage + `}`,
			Empty: `{"id":"c","choices":[]}`,
			Error: `{"error":{"message":"chaos"}}`,
		},
		"llamafile": {
			Whole: `{"content":"` + chaos.Answer + `","stop":true,"stop_type":"eos","tokens_evaluated":7171,"tokens_predicted":7171}`,
			Empty: `{"stop":true}`,
			Error: `{"error":{"code":500,"message":"chaos"}}`,
			Stream: &chaos.Stream{
				Kind: "text/event-stream", Frame: chaos.SSE, End: 1, Harmless: []byte(": still here\n\n"),
				Events: []chaos.Event{
					event(`{"content":"%s","stop":false}`, chaos.First), event(`{"content":"%s","stop":false}`, chaos.Rest),
					event(`{"content":"","stop":true,"stop_type":"eos","tokens_evaluated":7171,"tokens_predicted":7171}`),
				},
				Error: event(`{"error":{"code":500,"message":"chaos"}}`),
			},
		},
		"maritaca": {
			Whole: `{"answer":"` + chaos.Answer + `","model":"m",` + chaosUsage + `}`,
			Empty: `{"model":"m"}`,
			Error: `{"detail":"chaos"}`,
		},
	}
}

func chaosMaker(backend string) chaos.Maker {
	return func(s engine.ModelSettings, change func(*wire.Settings)) (engine.Model, error) {
		c := of(backend)
		return langchain.New(&c, s, change)
	}
}

// TestChaos makes fewer calls with backends that do what huggingface does: the
// door is the same for all.
func TestChaos(t *testing.T) {
	for name, f := range chaosFormats() {
		t.Run(name, func(t *testing.T) {
			if f.Stream == nil && name != "huggingface" && os.Getenv("PEX_CHAOS_CALLS") == "" {
				t.Setenv("PEX_CHAOS_CALLS", "200")
			}
			chaos.Run(t, f, chaosMaker(name))
		})
	}
}

func TestChaosOnClock(t *testing.T) {
	for name, f := range chaosFormats() {
		t.Run(name, func(t *testing.T) { chaos.RunOnClock(t, f, chaosMaker(name)) })
	}
}

func TestCancelAtAnyByteIsAnError(t *testing.T) {
	for name, f := range chaosFormats() {
		if f.Stream == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var whole []byte
			for _, e := range f.Stream.Events[:len(f.Stream.Events)-1] {
				whole = append(whole, chaos.SSE(e)...)
			}
			chaos.Cancel(t, f, whole, chaosMaker(name))
		})
	}
}

func TestChaosInMemory(t *testing.T) {
	for name, f := range chaosFormats() {
		t.Run(name, func(t *testing.T) { chaos.RunInMemory(t, f, chaosMaker(name)) })
	}
}

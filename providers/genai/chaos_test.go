package genai_test

import (
	"fmt"
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/chaos"
	"github.com/pexctl/pex/internal/wire"
	"github.com/pexctl/pex/providers/genai"
)

const (
	chaosUsage = `"usageMetadata":{"promptTokenCount":7171,"candidatesTokenCount":7171,"totalTokenCount":7171}`
	chaosFault = `{"error":{"code":500,"message":"chaos","status":"INTERNAL"}}`
)

// chaosFormat is the protocol: the last piece of a stream has a finishReason.
func chaosFormat() chaos.Format {
	reply := func(parts, more string) string {
		return `{"candidates":[{"index":0,"content":{"role":"model","parts":[` + parts + `]}` + more + `}],` + chaosUsage + `}`
	}
	says := func(s string) string { return reply(`{"text":"`+s+`"}`, "") }
	call := func(i int) string { return fmt.Sprintf(`{"functionCall":{"id":"c%d","name":"f","args":{}}}`, i) }
	calls := func(n int) string { return reply(chaos.List(n, call), `,"finishReason":"STOP"`) }
	return chaos.Format{
		Whole: reply(`{"text":"`+chaos.Answer+`"}`, `,"finishReason":"STOP"`),
		Empty: `{"candidates":[],` + chaosUsage + `}`,
		Error: chaosFault,
		Calls: calls,
		Stream: &chaos.Stream{
			Kind: "text/event-stream", End: 1, Harmless: []byte(": still here\n\n"),
			Frame:  func(e chaos.Event) []byte { return []byte("data: " + e.JSON + "\r\n\r\n") },
			Events: []chaos.Event{{JSON: says(chaos.First)}, {JSON: says(chaos.Rest)}, {JSON: reply(`{"text":""}`, `,"finishReason":"STOP"`)}},
			Empty:  []chaos.Event{{JSON: `{"candidates":[]}`}},
			Error:  chaos.Event{JSON: chaosFault},
			Calls:  func(n int) []chaos.Event { return []chaos.Event{{JSON: calls(n)}} },
		},
	}
}

func chaosModel(s model.Settings, change func(*wire.Settings)) (model.Model, error) {
	c := defaults()
	return genai.New(&c, s, change)
}

func TestChaos(t *testing.T) { chaos.Run(t, chaosFormat(), chaosModel) }

func TestChaosOnClock(t *testing.T) { chaos.RunOnClock(t, chaosFormat(), chaosModel) }

func TestCancelAtAnyByteIsAnError(t *testing.T) {
	chaos.Cancel(t, chaosFormat(), recorded(t, "text.sse"), chaosModel)
}

func TestChaosInMemory(t *testing.T) { chaos.RunInMemory(t, chaosFormat(), chaosModel) }

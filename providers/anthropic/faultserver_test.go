package anthropic_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/faultserver"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/anthropic"
)

const (
	faultyUsage = `"usage":{"input_tokens":7171,"output_tokens":7171}`
	faultyFault = `{"type":"error","error":{"type":"api_error","message":"injected"}}`
)

// faultyFormat describes the protocol. message_stop ends a stream.
func faultyFormat() faultserver.Format {
	named := func(kind, rest string) faultserver.Event {
		return faultserver.Event{Name: kind, JSON: `{"type":"` + kind + `"` + rest + `}`}
	}
	start := named("message_start", `,"message":{"id":"m","type":"message","content":[],`+faultyUsage+`}`)
	textDelta := func(s string) faultserver.Event {
		return named("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":"`+s+`"}`)
	}
	stop := func(why string) []faultserver.Event {
		return []faultserver.Event{named("message_delta", `,"delta":{"stop_reason":"`+why+`"},`+faultyUsage), named("message_stop", "")}
	}
	call := func(i int) string { return fmt.Sprintf(`{"type":"tool_use","id":"c%d","name":"f","input":{}}`, i) }
	return faultserver.Format{
		Whole: `{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"` + faultserver.Answer + `"}],"stop_reason":"end_turn",` + faultyUsage + `}`,
		Empty: `{"id":"m","type":"message","role":"assistant"}`,
		Error: faultyFault,
		Calls: func(n int) string {
			return `{"id":"m","type":"message","content":[` + faultserver.List(n, call) + `],"stop_reason":"tool_use"}`
		},
		Stream: &faultserver.Stream{
			Kind: "text/event-stream", Frame: faultserver.SSE, End: 2, Harmless: faultserver.SSE(named("ping", strings.Repeat(" ", 4000))),
			Events: append([]faultserver.Event{
				start, named("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`),
				textDelta(faultserver.First), textDelta(faultserver.Rest), named("content_block_stop", `,"index":0`),
			}, stop("end_turn")...),
			Empty: []faultserver.Event{start},
			Error: faultserver.Event{Name: "error", JSON: faultyFault},
			Calls: func(n int) []faultserver.Event {
				out := []faultserver.Event{start}
				for i := range n {
					out = append(out, named("content_block_start", fmt.Sprintf(`,"index":%d,"content_block":%s`, i, call(i))))
				}
				return append(out, stop("tool_use")...)
			},
		},
	}
}

func faultyModel(s model.Settings, change func(*httpclient.Settings)) (model.Model, error) {
	c := defaults()
	return anthropic.New(&c, s, change)
}

func TestServerFaults(t *testing.T) { faultserver.Run(t, faultyFormat(), faultyModel) }

func TestServerFaultsOnClock(t *testing.T) { faultserver.RunOnClock(t, faultyFormat(), faultyModel) }

func TestCancelAtAnyByteIsAnError(t *testing.T) {
	whole := recorded(t, "text.sse")
	faultserver.Cancel(t, faultyFormat(), whole[:bytes.LastIndex(whole, []byte("event: message_stop"))], faultyModel)
}

func TestServerFaultsInMemory(t *testing.T) { faultserver.RunInMemory(t, faultyFormat(), faultyModel) }

package genai_test

import (
	"fmt"
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/faultserver"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/genai"
)

const (
	faultyUsage = `"usageMetadata":{"promptTokenCount":7171,"candidatesTokenCount":7171,"totalTokenCount":7171}`
	faultyFault = `{"error":{"code":500,"message":"injected","status":"INTERNAL"}}`
)

// faultyFormat is the protocol. The last chunk of a stream has a finishReason.
func faultyFormat() faultserver.Format {
	reply := func(parts, more string) string {
		return `{"candidates":[{"index":0,"content":{"role":"model","parts":[` + parts + `]}` + more + `}],` + faultyUsage + `}`
	}
	chunk := func(s string) string { return reply(`{"text":"`+s+`"}`, "") }
	call := func(i int) string { return fmt.Sprintf(`{"functionCall":{"id":"c%d","name":"f","args":{}}}`, i) }
	calls := func(n int) string { return reply(faultserver.List(n, call), `,"finishReason":"STOP"`) }
	return faultserver.Format{
		Whole: reply(`{"text":"`+faultserver.Answer+`"}`, `,"finishReason":"STOP"`),
		Empty: `{"candidates":[],` + faultyUsage + `}`,
		Error: faultyFault,
		Calls: calls,
		Stream: &faultserver.Stream{
			Kind: "text/event-stream", End: 1, Harmless: []byte(": still here\n\n"),
			Frame:  func(e faultserver.Event) []byte { return []byte("data: " + e.JSON + "\r\n\r\n") },
			Events: []faultserver.Event{{JSON: chunk(faultserver.First)}, {JSON: chunk(faultserver.Rest)}, {JSON: reply(`{"text":""}`, `,"finishReason":"STOP"`)}},
			Empty:  []faultserver.Event{{JSON: `{"candidates":[]}`}},
			Error:  faultserver.Event{JSON: faultyFault},
			Calls:  func(n int) []faultserver.Event { return []faultserver.Event{{JSON: calls(n)}} },
		},
	}
}

func faultyModel(s model.Settings, change func(*httpclient.Settings)) (model.Model, error) {
	c := defaults()
	return genai.New(&c, s, change)
}

func TestServerFaults(t *testing.T) { faultserver.Run(t, faultyFormat(), faultyModel) }

func TestServerFaultsOnClock(t *testing.T) { faultserver.RunOnClock(t, faultyFormat(), faultyModel) }

func TestCancelAtAnyByte(t *testing.T) {
	faultserver.Cancel(t, faultyFormat(), recorded(t, "text.sse"), faultyModel)
}

func TestServerFaultsInMemory(t *testing.T) { faultserver.RunInMemory(t, faultyFormat(), faultyModel) }

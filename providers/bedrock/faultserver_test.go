package bedrock_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/faultserver"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/bedrock"
)

const faultyUsage = `"usage":{"inputTokens":7171,"outputTokens":7171,"totalTokens":7171}`

// faultyFrame frames an event. An event without a name is of an unknown type.
func faultyFrame(e faultserver.Event) []byte {
	switch e.Name {
	case "":
		e.Name = "somethingNew"
	case "internalServerException":
		return rawFrame("exception", e.Name, []byte(e.JSON))
	}
	return rawFrame("event", e.Name, []byte(e.JSON))
}

// faultyFormat is the protocol. messageStop ends a reply, and the usage after it may be missing. It has no errors in
// place of a reply.
func faultyFormat() faultserver.Format {
	delta := func(s string) faultserver.Event {
		return faultserver.Event{Name: "contentBlockDelta", JSON: `{"contentBlockIndex":0,"delta":{"text":"` + s + `"}}`}
	}
	use := func(i int) string { return fmt.Sprintf(`{"toolUseId":"c%d","name":"f"`, i) }
	call := func(i int) string { return `{"toolUse":` + use(i) + `,"input":{}}}` }
	start := faultserver.Event{Name: "messageStart", JSON: `{"role":"assistant"}`}
	stop := func(why string) faultserver.Event {
		return faultserver.Event{Name: "messageStop", JSON: `{"stopReason":"` + why + `"}`}
	}
	whole := func(content, why string) string {
		return `{"output":{"message":{"role":"assistant","content":[` + content + `]}},"stopReason":"` + why + `",` + faultyUsage + `}`
	}
	return faultserver.Format{
		Whole: whole(`{"text":"`+faultserver.Answer+`"}`, "end_turn"),
		Empty: `{"stopReason":"end_turn"}`,
		Calls: func(n int) string { return whole(faultserver.List(n, call), "tool_use") },
		Stream: &faultserver.Stream{
			Kind: streamKind, Frame: faultyFrame, End: 2, Mark: 1, Harmless: faultyFrame(faultserver.Event{JSON: `{"p":"` + strings.Repeat("abcdefgh", 500) + `"}`}),
			Events: []faultserver.Event{
				start, delta(faultserver.First), delta(faultserver.Rest),
				{Name: "contentBlockStop", JSON: `{"contentBlockIndex":0}`},
				stop("end_turn"),
				{Name: "metadata", JSON: `{` + faultyUsage + `,"metrics":{"latencyMs":1}}`},
			},
			Empty: []faultserver.Event{start},
			Error: faultserver.Event{Name: "internalServerException", JSON: `{"message":"injected"}`},
			Calls: func(n int) []faultserver.Event {
				out := []faultserver.Event{start}
				for i := range n {
					out = append(out, faultserver.Event{
						Name: "contentBlockStart", JSON: fmt.Sprintf(`{"contentBlockIndex":%d,"start":{"toolUse":%s}}}`, i, use(i)),
					})
				}
				return append(out, stop("tool_use"))
			},
		},
	}
}

func faultyModel(s model.Settings, change func(*httpclient.Settings)) (model.Model, error) {
	c := defaults()
	return bedrock.New(&c, s, change)
}

func TestServerFaults(t *testing.T) { faultserver.Run(t, faultyFormat(), faultyModel) }

func TestServerFaultsOnClock(t *testing.T) { faultserver.RunOnClock(t, faultyFormat(), faultyModel) }

func TestCancelAtAnyByte(t *testing.T) {
	faultserver.Cancel(t, faultyFormat(), recorded(t, "text.events"), faultyModel)
}

func TestCancelByTheReader(t *testing.T) {
	f := faultyFormat()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", streamKind)
		for range 100 {
			_, _ = w.Write(f.Stream.Frame(f.Stream.Events[1]))
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = w.Write(f.Stream.Frame(f.Stream.Events[4]))
	}))
	defer s.Close()
	m := at(t, s.URL, defaults(), model.Settings{})
	for n := 1; n < 100; n += 7 {
		ctx, cancel := context.WithCancel(t.Context())
		deltas := 0
		got, err := m.Generate(ctx, question, func(model.Delta) {
			if deltas++; deltas == n {
				cancel()
			}
		})
		if got != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("at delta %d: reply %+v, error %v", n, got, err)
		}
		cancel()
	}
}

func TestServerFaultsInMemory(t *testing.T) { faultserver.RunInMemory(t, faultyFormat(), faultyModel) }

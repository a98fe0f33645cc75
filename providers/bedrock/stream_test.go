package bedrock_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/smithy-go/eventstream"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/wire"
	"github.com/pexctl/pex/providers/bedrock"
	"github.com/pexctl/pex/providers/call/calltest"
)

const streamKind = "application/vnd.amazon.eventstream"

func recorded(tb testing.TB, name string) []byte {
	tb.Helper()
	text := calltest.Recorded(tb, "recorded/"+name)
	if strings.HasSuffix(name, ".events") {
		return framed(text)
	}
	return text
}

// framed puts AWS's frames around the lines of a recorded stream.
func framed(text []byte) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(text) {
		name, payload, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		m := eventstream.Message{Payload: []byte(payload)}
		set := func(header, value string) { m.Headers.Set(header, eventstream.StringValue(value)) }
		switch {
		case strings.HasPrefix(name, "!!"):
			set(":error-code", name[2:])
			set(":error-message", "it broke")
			set(":message-type", "error")
		case strings.HasPrefix(name, "!"):
			set(":exception-type", name[1:])
			set(":content-type", "application/json")
			set(":message-type", "exception")
		default:
			set(":event-type", name)
			set(":content-type", "application/json")
			set(":message-type", "event")
		}
		if err := eventstream.NewEncoder().Encode(&out, m); err != nil {
			return out.Bytes() // longer than a frame may be
		}
	}
	return out.Bytes()
}

// streams are those of a server at an address.
var streams = calltest.Streams{Kind: streamKind, New: func(tb testing.TB, set engine.ModelSettings) engine.Model {
	return at(tb, set.BaseURL, defaults(), set)
}}

// requestID is a header of each recorded answer.
var requestID = []string{"X-Amzn-Requestid", "q-1"}

func replay(tb testing.TB, kind string, text []byte) string {
	tb.Helper()
	return calltest.Replay(tb, kind, text, requestID...)
}

// call is a tool call; opaque, if any, is what it keeps of its model's thinking.
func call(id, name, args string, opaque ...string) engine.ToolCall {
	return engine.ToolCall{ID: id, Name: name, Args: json.RawMessage(args), Opaque: json.RawMessage(strings.Join(opaque, ""))}
}

const keptThoughts = `{"bedrock":{"model":"m","thoughts":[{"text":"Moss or fern?","signature":"c2ln"},{"redacted":"AAECAw=="}]}}`

func ignored(want engine.Reply) cmp.Option {
	fields := []string{"Latency", "FirstToken"}
	if want.Usage.Total() == 0 {
		fields = append(fields, "Usage", "Estimated", "Uncounted")
	}
	return cmp.Options{cmpopts.IgnoreFields(engine.Reply{}, fields...), cmpopts.EquateEmpty()}
}

func TestStreams(t *testing.T) {
	tests := []struct {
		file      string
		want      engine.Reply
		reasoning string
	}{
		{"text", engine.Reply{Text: "Moss is green.", Stop: engine.EndTurn, Usage: engine.Tokens{Input: 139, Output: 4, Cached: 100, CacheWrite: 20}}, ""},
		{"tools", engine.Reply{
			Text: "I look.", Stop: engine.ToolUse, Usage: engine.Tokens{Input: 300, Output: 50},
			Calls: []engine.ToolCall{call("tooluse_a", "f", `{"x": 1}`), call("tooluse_b", "now", `{}`)},
		}, ""},
		{"interleaved", engine.Reply{Calls: []engine.ToolCall{call("a", "f", `{"x":1}`), call("b", "g", `{"y":2}`)}, Stop: engine.ToolUse}, ""},
		{"thinking", engine.Reply{
			Text: "I look.", Calls: []engine.ToolCall{call("a", "f", `{}`, keptThoughts), call("b", "g", `{}`)}, Stop: engine.ToolUse,
		}, "Moss or fern?"},
		{"one_index", engine.Reply{
			Text: "I look.", Calls: []engine.ToolCall{call("a", "f", `{"x":1}`), call("b", "f", `{"x":2}`)}, Stop: engine.ToolUse,
		}, "Hm."},
		{"guardrail", engine.Reply{Text: "I cannot answer that.", Stop: engine.Guardrail}, ""},
		{"router", engine.Reply{
			Model: "arn:aws:bedrock:us-east-1::foundation-model/small", Text: "x", Stop: engine.StopSequence,
			Usage: engine.Tokens{Input: 100, Output: 4, Cached: 90},
		}, ""},
		{"no_metadata", engine.Reply{Text: "whole", Stop: engine.MaxTokens}, ""},
		{"news", engine.Reply{Text: "known", Stop: engine.EndTurn}, "Hm."},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			m := at(t, replay(t, streamKind, recorded(t, tt.file+".events")), defaults(), engine.ModelSettings{})
			got := calltest.Hear(t, m, question)
			if tt.want.ID = "q-1"; tt.want.Model == "" {
				tt.want.Model = "m"
			}
			if diff := cmp.Diff(&tt.want, got.Reply, ignored(tt.want)); diff != "" {
				t.Error(diff)
			}
			if got.Text != tt.want.Text || got.Reasoning != tt.reasoning {
				t.Errorf("deltas %q, reasoning %q", got.Text, got.Reasoning)
			}
		})
	}
}

func TestWholeAnswers(t *testing.T) {
	tests := []struct {
		file string
		want engine.Reply
	}{
		{"text", engine.Reply{Text: "Moss is green.", Stop: engine.EndTurn, Usage: engine.Tokens{Input: 139, Output: 4, Cached: 100, CacheWrite: 20}}},
		{"thinking", engine.Reply{
			Text: "I look.", Stop: engine.ToolUse, Usage: engine.Tokens{Input: 10, Output: 32},
			Calls: []engine.ToolCall{call("a", "f", `{"a":"<b>","n":12345678901234567890,"z":1.50}`, keptThoughts), call("b", "g", `{}`)},
		}},
		{"text_after_reasoning", engine.Reply{Text: "Green.", Stop: engine.EndTurn}},
		{"guardrail", engine.Reply{Text: "I cannot answer that.", Stop: engine.Guardrail}},
		{"odd", engine.Reply{Text: "cited and more", Stop: engine.MaxTokens, Usage: engine.Tokens{Input: 5, Output: 6}}},
		{"filtered", engine.Reply{Stop: engine.ContentFiltered, Usage: engine.Tokens{Input: 5, Output: 6}}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			m := at(t, replay(t, "application/json", recorded(t, tt.file+".json")), defaults(), engine.ModelSettings{})
			got, err := m.Generate(t.Context(), question, nil)
			if err != nil {
				t.Fatal(err)
			}
			tt.want.ID, tt.want.Model = "q-1", "m"
			if diff := cmp.Diff(&tt.want, got, ignored(tt.want)); diff != "" {
				t.Error(diff)
			}
			if got.Estimated != (tt.want.Usage.Total() == 0) {
				t.Errorf("usage %+v, estimated %v", got.Usage, got.Estimated)
			}
		})
	}
}

func TestAnswerByToolIsTheReply(t *testing.T) {
	c := defaults()
	c.StructuredOutput = "tool"
	whole := `{"output":{"message":{"content":[{"toolUse":{"input":{"steps":[]},"name":"the_plan_1","toolUseId":"a"}}]}},"stopReason":"tool_use"}`
	got, err := at(t, replay(t, "application/json", []byte(whole)), c, engine.ModelSettings{}).Generate(t.Context(), asking(plan), nil)
	if err != nil || got.Text != `{"steps":[]}` || len(got.Calls) != 0 || got.Stop != engine.EndTurn {
		t.Errorf("reply %+v, error %v", got, err)
	}
	events := framed([]byte(`contentBlockStart {"contentBlockIndex":0,"start":{"toolUse":{"name":"the_plan_1","toolUseId":"a"}}}
contentBlockDelta {"contentBlockIndex":0,"delta":{"toolUse":{"input":"{\"steps\""}}}
contentBlockDelta {"contentBlockIndex":0,"delta":{"toolUse":{"input":":[]}"}}}
messageStop {"stopReason":"tool_use"}`))
	var deltas strings.Builder
	got, err = at(t, replay(t, streamKind, events), c, engine.ModelSettings{}).Generate(t.Context(), asking(plan), func(d engine.Delta) { deltas.WriteString(d.Text) })
	if err != nil || got.Text != `{"steps":[]}` || deltas.String() != got.Text || len(got.Calls) != 0 || got.Stop != engine.EndTurn {
		t.Errorf("reply %+v, deltas %q, error %v", got, deltas.String(), err)
	}
}

func TestBrokenStreamsAreNeverAnswers(t *testing.T) {
	tests := []struct {
		file string
		kind engine.ErrorKind
		text string
	}{
		{"bad_cut", engine.Truncated, "before the reply did"},
		{"bad_empty", engine.Truncated, "before the reply did"},
		{"bad_throttled", engine.RateLimited, "ThrottlingException: Too many requests with [redacted]"},
		{"bad_model", engine.Overloaded, "ModelStreamErrorException: The model failed.: overloaded"},
		{"bad_server", engine.ServerError, "InternalServerException: The system"},
		{"bad_unavailable", engine.Overloaded, "ServiceUnavailableException: Bedrock"},
		{"bad_validation", engine.ContextTooLong, "too long"},
		{"bad_unknown", engine.ServerError, "somethingNewException: never heard of"},
		{"bad_error", engine.ServerError, "InternalFailure: it broke"},
		{"bad_malformed", engine.BadReply, "malformed_tool_use"},
		{"bad_nameless", engine.BadReply, "has no name"},
		{"bad_json", engine.BadReply, "cannot be read"},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			e := streams.Broken(t, recorded(t, tt.file+".events"), tt.kind, tt.text, requestID...)
			if e.Kind != engine.BadReply && e.RequestID != "q-1" {
				t.Errorf("request %q", e.RequestID)
			}
		})
	}
}

func TestEveryCutOfAStreamIsAnErrorOrTheWholeReply(t *testing.T) {
	for _, file := range []string{"text", "interleaved"} {
		t.Run(file, func(t *testing.T) { streams.Cuts(t, recorded(t, file+".events")) })
	}
}

func TestEveryFlippedByteIsNoticed(t *testing.T) {
	whole := recorded(t, "interleaved.events")
	text := bytes.Clone(whole)
	m := at(t, replay(t, streamKind, text), defaults(), engine.ModelSettings{})
	for n := range text {
		text[n] ^= 0x20
		got, err := m.Generate(t.Context(), question, func(engine.Delta) {})
		var e *engine.ModelError
		if got != nil || !errors.As(err, &e) || e.Kind != engine.BadReply && e.Kind != engine.Truncated {
			t.Fatalf("flipped at %d: reply %+v, error %v", n, got, err)
		}
		text[n] = whole[n]
	}
}

func TestPageInPlaceOfAStreamIsNoReply(t *testing.T) { streams.Page(t) }

func TestStreamsHaveTheRoomOfStreams(t *testing.T) {
	c := defaults()
	m, err := bedrock.New(&c, engine.ModelSettings{Model: "m", BaseURL: replay(t, streamKind, recorded(t, "thinking.events"))}, func(s *wire.Settings) {
		s.MaxBody = 100
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.Generate(t.Context(), question, func(engine.Delta) {}); err != nil || got.Text != "I look." {
		t.Errorf("reply %+v, error %v", got, err)
	}
}

func TestEndlessCallsAreNoReply(t *testing.T) {
	var b strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&b, `contentBlockStart {"contentBlockIndex":%d,"start":{"toolUse":{"name":"f","toolUseId":"t%d"}}}`+"\n", i, i)
	}
	m := at(t, replay(t, streamKind, framed([]byte(b.String()))), defaults(), engine.ModelSettings{})
	_, err := m.Generate(t.Context(), question, func(engine.Delta) {})
	var e *engine.ModelError
	if !errors.As(err, &e) || e.Kind != engine.BadReply {
		t.Errorf("error %v", err)
	}
}

func FuzzStream(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "recorded", "*.events"))
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, true)
		f.Add(framed(text), false)
	}
	f.Add([]byte("messageStop "+strings.Repeat("[", 20000)), true)
	var text []byte
	c := defaults()
	m, err := bedrock.New(&c, engine.ModelSettings{Model: "m", BaseURL: "http://no.net"}, func(s *wire.Settings) {
		s.Base = tripper(func(r *http.Request) (*http.Response, error) {
			h := http.Header{"Content-Type": {streamKind}}
			return &http.Response{StatusCode: http.StatusOK, Request: r, Header: h, Body: io.NopCloser(bytes.NewReader(text))}, nil
		})
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in []byte, lines bool) {
		if text = in; lines {
			text = framed(in)
		}
		got, err := m.Generate(t.Context(), question, func(engine.Delta) {})
		calltest.Sound(t, got, err)
	})
}

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
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/bedrock"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
)

const streamKind = "application/vnd.amazon.eventstream"

func recorded(tb testing.TB, name string) []byte {
	tb.Helper()
	text := modelhttptest.ReadRecorded(tb, "recorded/"+name)
	if strings.HasSuffix(name, ".events") {
		return framed(text)
	}
	return text
}

// framed encodes the lines of a recorded stream as frames.
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

// streams are the stream tests of this provider.
var streams = modelhttptest.Streams{Kind: streamKind, New: func(tb testing.TB, set model.Settings) model.Model {
	return at(tb, set.BaseURL, defaults(), set)
}}

// requestID is a header of every recorded reply.
var requestID = []string{"X-Amzn-Requestid", "q-1"}

func replay(tb testing.TB, kind string, text []byte) string {
	tb.Helper()
	return modelhttptest.Replay(tb, kind, text, requestID...)
}

// call returns a tool call with the thinking stored in it, if any.
func call(id, name, args string, opaque ...string) model.ToolCall {
	return model.ToolCall{ID: id, Name: name, Args: json.RawMessage(args), Opaque: json.RawMessage(strings.Join(opaque, ""))}
}

const opaqueThoughts = `{"bedrock":{"model":"m","thoughts":[{"text":"Moss or fern?","signature":"c2ln"},{"redacted":"AAECAw=="}]}}`

func ignored(want model.Reply) cmp.Option {
	fields := []string{"Latency", "FirstToken"}
	if want.Usage.Total() == 0 {
		fields = append(fields, "Usage", "Estimated", "Uncounted")
	}
	return cmp.Options{cmpopts.IgnoreFields(model.Reply{}, fields...), cmpopts.EquateEmpty()}
}

func TestStreams(t *testing.T) {
	tests := []struct {
		file      string
		want      model.Reply
		reasoning string
	}{
		{"text", model.Reply{Text: "Moss is green.", Stop: model.EndTurn, Usage: model.Tokens{Input: 139, Output: 4, Cached: 100, CacheWrite: 20}}, ""},
		{"tools", model.Reply{
			Text: "I look.", Stop: model.ToolUse, Usage: model.Tokens{Input: 300, Output: 50},
			Calls: []model.ToolCall{call("tooluse_a", "f", `{"x": 1}`), call("tooluse_b", "now", `{}`)},
		}, ""},
		{"interleaved", model.Reply{Calls: []model.ToolCall{call("a", "f", `{"x":1}`), call("b", "g", `{"y":2}`)}, Stop: model.ToolUse}, ""},
		{"thinking", model.Reply{
			Text: "I look.", Calls: []model.ToolCall{call("a", "f", `{}`, opaqueThoughts), call("b", "g", `{}`)}, Stop: model.ToolUse,
		}, "Moss or fern?"},
		{"one_index", model.Reply{
			Text: "I look.", Calls: []model.ToolCall{call("a", "f", `{"x":1}`), call("b", "f", `{"x":2}`)}, Stop: model.ToolUse,
		}, "Hm."},
		{"guardrail", model.Reply{Text: "I cannot answer that.", Stop: model.Guardrail}, ""},
		{"router", model.Reply{
			Model: "arn:aws:bedrock:us-east-1::foundation-model/small", Text: "x", Stop: model.StopSequence,
			Usage: model.Tokens{Input: 100, Output: 4, Cached: 90},
		}, ""},
		{"no_metadata", model.Reply{Text: "whole", Stop: model.MaxTokens}, ""},
		{"news", model.Reply{Text: "known", Stop: model.EndTurn}, "Hm."},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			m := at(t, replay(t, streamKind, recorded(t, tt.file+".events")), defaults(), model.Settings{})
			got := modelhttptest.ReadStream(t, m, question)
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

func TestCompleteReplies(t *testing.T) {
	tests := []struct {
		file string
		want model.Reply
	}{
		{"text", model.Reply{Text: "Moss is green.", Stop: model.EndTurn, Usage: model.Tokens{Input: 139, Output: 4, Cached: 100, CacheWrite: 20}}},
		{"thinking", model.Reply{
			Text: "I look.", Stop: model.ToolUse, Usage: model.Tokens{Input: 10, Output: 32},
			Calls: []model.ToolCall{call("a", "f", `{"a":"<b>","n":12345678901234567890,"z":1.50}`, opaqueThoughts), call("b", "g", `{}`)},
		}},
		{"text_after_reasoning", model.Reply{Text: "Green.", Stop: model.EndTurn}},
		{"guardrail", model.Reply{Text: "I cannot answer that.", Stop: model.Guardrail}},
		{"odd", model.Reply{Text: "cited and more", Stop: model.MaxTokens, Usage: model.Tokens{Input: 5, Output: 6}}},
		{"filtered", model.Reply{Stop: model.ContentFiltered, Usage: model.Tokens{Input: 5, Output: 6}}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			m := at(t, replay(t, "application/json", recorded(t, tt.file+".json")), defaults(), model.Settings{})
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
	got, err := at(t, replay(t, "application/json", []byte(whole)), c, model.Settings{}).Generate(t.Context(), asking(plan), nil)
	if err != nil || got.Text != `{"steps":[]}` || len(got.Calls) != 0 || got.Stop != model.EndTurn {
		t.Errorf("reply %+v, error %v", got, err)
	}
	events := framed([]byte(`contentBlockStart {"contentBlockIndex":0,"start":{"toolUse":{"name":"the_plan_1","toolUseId":"a"}}}
contentBlockDelta {"contentBlockIndex":0,"delta":{"toolUse":{"input":"{\"steps\""}}}
contentBlockDelta {"contentBlockIndex":0,"delta":{"toolUse":{"input":":[]}"}}}
messageStop {"stopReason":"tool_use"}`))
	var deltas strings.Builder
	got, err = at(t, replay(t, streamKind, events), c, model.Settings{}).Generate(t.Context(), asking(plan), func(d model.Delta) { deltas.WriteString(d.Text) })
	if err != nil || got.Text != `{"steps":[]}` || deltas.String() != got.Text || len(got.Calls) != 0 || got.Stop != model.EndTurn {
		t.Errorf("reply %+v, deltas %q, error %v", got, deltas.String(), err)
	}
}

func TestBrokenStreamsAreErrors(t *testing.T) {
	tests := []struct {
		file string
		kind model.ErrorKind
		text string
	}{
		{"bad_cut", model.Truncated, "before the reply was complete"},
		{"bad_empty", model.Truncated, "before the reply was complete"},
		{"bad_throttled", model.RateLimited, "ThrottlingException: Too many requests with [redacted]"},
		{"bad_model", model.Overloaded, "ModelStreamErrorException: The model failed.: overloaded"},
		{"bad_server", model.ServerError, "InternalServerException: The system"},
		{"bad_unavailable", model.Overloaded, "ServiceUnavailableException: Bedrock"},
		{"bad_validation", model.ContextTooLong, "too long"},
		{"bad_unknown", model.ServerError, "somethingNewException: never heard of"},
		{"bad_error", model.ServerError, "InternalFailure: it broke"},
		{"bad_malformed", model.BadReply, "malformed_tool_use"},
		{"bad_nameless", model.BadReply, "has no name"},
		{"bad_json", model.BadReply, "cannot be read"},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			e := streams.RejectStream(t, recorded(t, tt.file+".events"), tt.kind, tt.text, requestID...)
			if e.Kind != model.BadReply && e.RequestID != "q-1" {
				t.Errorf("request %q", e.RequestID)
			}
		})
	}
}

func TestTruncatedStreams(t *testing.T) {
	for _, file := range []string{"text", "interleaved"} {
		t.Run(file, func(t *testing.T) { streams.CheckTruncations(t, recorded(t, file+".events")) })
	}
}

func TestFlippedBytesAreDetected(t *testing.T) {
	whole := recorded(t, "interleaved.events")
	text := bytes.Clone(whole)
	m := at(t, replay(t, streamKind, text), defaults(), model.Settings{})
	for n := range text {
		text[n] ^= 0x20
		got, err := m.Generate(t.Context(), question, func(model.Delta) {})
		var e *model.Error
		if got != nil || !errors.As(err, &e) || e.Kind != model.BadReply && e.Kind != model.Truncated {
			t.Fatalf("flipped at %d: reply %+v, error %v", n, got, err)
		}
		text[n] = whole[n]
	}
}

func TestHTMLInsteadOfStream(t *testing.T) { streams.CheckHTML(t) }

func TestMaxBodyDoesNotLimitStreams(t *testing.T) {
	c := defaults()
	m, err := bedrock.New(&c, model.Settings{Model: "m", BaseURL: replay(t, streamKind, recorded(t, "thinking.events"))}, func(s *httpclient.Settings) {
		s.MaxBody = 100
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.Generate(t.Context(), question, func(model.Delta) {}); err != nil || got.Text != "I look." {
		t.Errorf("reply %+v, error %v", got, err)
	}
}

func TestTooManyCallsInAStream(t *testing.T) {
	var b strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&b, `contentBlockStart {"contentBlockIndex":%d,"start":{"toolUse":{"name":"f","toolUseId":"t%d"}}}`+"\n", i, i)
	}
	m := at(t, replay(t, streamKind, framed([]byte(b.String()))), defaults(), model.Settings{})
	_, err := m.Generate(t.Context(), question, func(model.Delta) {})
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.BadReply {
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
	m, err := bedrock.New(&c, model.Settings{Model: "m", BaseURL: "http://no.net"}, func(s *httpclient.Settings) {
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
		got, err := m.Generate(t.Context(), question, func(model.Delta) {})
		modelhttptest.CheckResult(t, got, err)
	})
}

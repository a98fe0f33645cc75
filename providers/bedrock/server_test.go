package bedrock_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/bedrock"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
)

// at builds a model of a server, without waits between attempts.
func at(t testing.TB, base string, c bedrock.Config, set model.Settings) model.Model {
	t.Helper()
	set.BaseURL = base
	if set.Model == "" {
		set.Model = "m"
	}
	m, err := bedrock.New(&c, set, modelhttptest.DisableWaits)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func defaults() bedrock.Config { return *bedrock.Bedrock.Config().(*bedrock.Config) }

func TestConformance(t *testing.T) {
	// Converse has no seed and no reasoning tokens. Tests of this package cover the rest of these two cases.
	skip := []string{"parameters", "usage"}
	tests := []struct {
		name   string
		change func(*bedrock.Config)
		skip   []string
	}{
		// Its schemas are closed before they are sent.
		{"Claude", func(c *bedrock.Config) { c.BaseModel = "anthropic.claude-sonnet-4-5-20250929-v1:0" }, []string{"schema"}},
		// It cannot be limited to one call per reply.
		{"another model", func(c *bedrock.Config) { c.BaseModel = "amazon.nova-pro-v1:0" }, []string{"tools"}},
		{"answers by a tool", func(c *bedrock.Config) {
			c.BaseModel, c.StructuredOutput = "anthropic.claude-sonnet-4-5-20250929-v1:0", "tool"
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			enginetest.ModelSuite(t, func(t *testing.T, script *enginetest.ModelScript, set model.Settings) model.Model {
				c := defaults()
				tt.change(&c)
				return at(t, modelhttptest.Serve(t, script, protocol), c, set)
			}, append(tt.skip, skip...)...)
		})
	}
}

// protocol is the protocol of Converse and ConverseStream.
var protocol = modelhttptest.Protocol{
	ParseRequest: func(t *testing.T, r *http.Request, raw []byte) (a enginetest.ReceivedRequest, ok bool) {
		parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
		var b body
		if err := json.Unmarshal(raw, &b); err != nil || len(parts) != 3 || parts[0] != "model" || r.Method != http.MethodPost {
			return a, false
		}
		if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
			t.Errorf("authorization %q", r.Header.Get("Authorization"))
		}
		check(t, b)
		return b.received(parts[1], parts[2] == "converse-stream"), true
	},
	ErrorBody: func(h http.Header, x enginetest.Response, _ enginetest.ReceivedRequest) any {
		h.Set("X-Amzn-Requestid", x.RequestID)
		if name := exceptions[x.Status]; name != "" {
			h.Set("X-Amzn-Errortype", name+":http://internal.amazon.com/coral/com.amazon.bedrock/")
		}
		return map[string]string{"message": x.Message}
	},
	ReplyBody: func(h http.Header, x enginetest.Response) any {
		h.Set("X-Amzn-Requestid", x.Reply.ID)
		m := message{Role: "assistant", Content: []block{}}
		if x.Reply.Text != "" {
			m.Content = append(m.Content, block{Text: &x.Reply.Text})
		}
		for _, c := range x.Reply.Calls {
			m.Content = append(m.Content, block{ToolUse: &toolUse{ToolUseID: c.ID, Name: c.Name, Input: c.Args}})
		}
		return map[string]any{
			"output": map[string]any{"message": m}, "stopReason": stopReason(x.Reply.Stop), "usage": usage(x.Reply.Usage),
			"metrics": map[string]int{"latencyMs": 1}, "trace": trace(x.Reply.Model),
		}
	},
	Stream: func(h http.Header, x enginetest.Response) [][]byte {
		h.Set("Content-Type", streamKind)
		h.Set("X-Amzn-Requestid", x.Reply.ID)
		return frames(x)
	},
}

// check reports what the real server would reject.
func check(t *testing.T, b body) {
	t.Helper()
	calls := false
	for i, m := range b.Messages {
		if want := []string{"user", "assistant"}[i%2]; m.Role != want || len(m.Content) == 0 {
			t.Errorf("message %d of %s has %d blocks", i, m.Role, len(m.Content))
		}
		for _, c := range m.Content {
			calls = calls || c.ToolUse != nil || c.ToolResult != nil
			if c.Text != nil && strings.TrimSpace(*c.Text) == "" {
				t.Errorf("message %d has a blank text", i)
			}
			if c.ToolResult != nil && (len(c.ToolResult.Content) != 1 || strings.TrimSpace(*c.ToolResult.Content[0].Text) == "") {
				t.Errorf("message %d has a blank result", i)
			}
		}
	}
	if calls && b.ToolConfig == nil {
		t.Error("a conversation with calls has no tools")
	}
}

var exceptions = map[int]string{
	400: "ValidationException", 403: "AccessDeniedException", 404: "ResourceNotFoundException",
	429: "ThrottlingException", 500: "InternalServerException", 503: "ServiceUnavailableException",
}

func usage(u model.Tokens) map[string]int {
	if u.Total() == 0 {
		return nil
	}
	return map[string]int{
		"inputTokens": u.Input - u.Cached, "cacheReadInputTokens": u.Cached, "cacheWriteInputTokens": 0,
		"outputTokens": u.Output, "totalTokens": u.Total(),
	}
}

// stopReason returns the protocol's stop reason.
func stopReason(k model.StopReason) string {
	switch k {
	case "":
		return string(model.EndTurn)
	case model.Guardrail:
		return "guardrail_intervened"
	case model.EndTurn, model.ToolUse, model.MaxTokens, model.StopSequence, model.ContentFiltered, model.Refusal:
	}
	return string(k)
}

// trace returns the field that contains the model's name, or nil.
func trace(model string) any {
	if model == "" {
		return nil
	}
	return map[string]any{"promptRouter": map[string]string{"invokedModelId": model}}
}

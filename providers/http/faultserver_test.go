package http_test

import (
	"fmt"
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/faultserver"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/http"
)

const (
	faultyChatUsage     = `"usage":{"prompt_tokens":7171,"completion_tokens":7171,"total_tokens":7171}`
	faultyConverseUsage = `"usage":{"inputTokens":7171,"outputTokens":7171,"totalTokens":7171}`
	faultyGeminiUsage   = `"usageMetadata":{"promptTokenCount":7171,"candidatesTokenCount":7171}`
)

func faultyChat() faultserver.Format {
	return faultserver.Format{
		Whole: `{"id":"c","choices":[{"message":{"content":"` + faultserver.Answer + `"},"finish_reason":"stop"}],` + faultyChatUsage + `}`,
		Empty: `{"choices":[]}`,
		Error: `{"error":{"message":"injected","type":"server_error"}}`,
		Calls: func(n int) string {
			return `{"choices":[{"message":{"tool_calls":[` + faultserver.List(n, func(i int) string {
				return fmt.Sprintf(`{"id":"c%d","function":{"name":"f","arguments":"{}"}}`, i)
			}) + `]},"finish_reason":"tool_calls"}]}`
		},
	}
}

func faultyConverse() faultserver.Format {
	whole := func(content string) string {
		return `{"output":{"message":{"content":[` + content + `]}},"stopReason":"end_turn",` + faultyConverseUsage + `}`
	}
	return faultserver.Format{
		Whole: whole(`{"text":"` + faultserver.Answer + `"}`),
		Empty: `{"stopReason":"end_turn"}`,
		Calls: func(n int) string {
			return whole(faultserver.List(n, func(i int) string { return fmt.Sprintf(`{"toolUse":{"toolUseId":"c%d","name":"f","input":{}}}`, i) }))
		},
	}
}

func faultyGemini() faultserver.Format {
	whole := func(parts string) string {
		return `{"candidates":[{"content":{"parts":[` + parts + `]},"finishReason":"STOP"}],` + faultyGeminiUsage + `}`
	}
	return faultserver.Format{
		Whole: whole(`{"text":"` + faultserver.Answer + `"}`),
		Empty: `{"candidates":[]}`,
		Error: `{"error":{"code":500,"message":"injected","status":"INTERNAL"}}`,
		Calls: func(n int) string {
			return whole(faultserver.List(n, func(int) string { return `{"functionCall":{"name":"f","args":{}}}` }))
		},
	}
}

func TestServerFaults(t *testing.T) {
	text := defaults()
	text.RequestBody = value(t, `{"inputs": "${args.prompt}"}`)
	for _, x := range []struct {
		name   string
		config http.Config
		format faultserver.Format
	}{
		{"chat", of("openai/v1/chat/completions"), faultyChat()},
		{"converse", of("bedrock/converse/claude"), faultyConverse()},
		{"prompted", of("bedrock/converse/deepseek_r1"), faultyConverse()},
		{"gemini", of("gemini/v1beta/generatecontent"), faultyGemini()},
		{"text", text, faultserver.Format{Whole: `{"response":"` + faultserver.Answer + `","tokens":7171}`, Empty: `{"tokens":7171}`, Bare: true}},
	} {
		t.Run(x.name, func(t *testing.T) {
			x.format.Part = 5
			model := func(s model.Settings, change func(*httpclient.Settings)) (model.Model, error) {
				return http.New(&x.config, s, change)
			}
			faultserver.Run(t, x.format, model)
			faultserver.RunOnClock(t, x.format, model)
			faultserver.Cancel(t, x.format, []byte(x.format.Whole), model)
		})
	}
}

func TestServerFaultsInMemory(t *testing.T) {
	c := of("openai/v1/chat/completions")
	faultserver.RunInMemory(t, faultyChat(), func(s model.Settings, change func(*httpclient.Settings)) (model.Model, error) {
		return http.New(&c, s, change)
	})
}

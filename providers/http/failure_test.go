package http_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/http"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
)

var interfaces = []string{"chat_", "converse_", "deepseek_", "gemini_", "text_tgi.json"}

func TestBadRepliesAreErrors(t *testing.T) {
	for name, answer := range map[string]string{
		"empty": ``, "a page": `<html>sign in</html>`, "null": `null`, "a number": `12`, "an empty object": `{}`, "an empty list": `[]`,
		"nothing in it":         `{"choices": [], "candidates": [], "output": null}`,
		"of another kind":       `{"choices": "x", "output": "x", "candidates": "x"}`,
		"inner of another kind": `{"choices": [{"message": {"content": {"a": 7}}}], "output": {"message": {"content": "x"}}, "candidates": [{"content": "x"}]}`,
		"half":                  `{"choices": [{"message": {"content": "x`, "not a number": `{"choices": [{"index": NaN}]}`,
		"deep nesting": strings.Repeat("[", 20000) + strings.Repeat("]", 20000),
		"too many calls": `{"choices": [{"message": {"tool_calls": [` + strings.Repeat(`{"function": {"name": "f", "arguments": "{}"}},`, 200) + `{"function": {"name": "f"}}]}}],
			"output": {"message": {"content": [` + strings.Repeat(`{"toolUse": {"name": "f"}},`, 200) + `{"text": ""}]}},
			"candidates": [{"content": {"parts": [` + strings.Repeat(`{"functionCall": {"name": "f"}},`, 200) + `{"text": ""}]}}]}`,
		"a call without name": `{"choices": [{"message": {"tool_calls": [{"function": {"arguments": "{\"a\":1}"}}]}}],
			"output": {"message": {"content": [{"toolUse": {"input": {"a": 1}}}]}}, "candidates": [{"content": {"parts": [{"functionCall": {"args": {"a": 1}}}]}}]}`,
	} {
		for _, kind := range interfaces {
			t.Run(kind+name, func(t *testing.T) {
				base, _ := serving(t, 200, "application/json", []byte(answer))
				got, err := at(t, base, configOf(t, kind), model.Settings{Model: "m"}).Generate(t.Context(), question, nil)
				var e *model.Error
				if got != nil || !errors.As(err, &e) || e.Kind != model.BadReply {
					t.Errorf("reply %+v, error %v", got, err)
				}
			})
		}
	}
}

func TestErrorsWithStatus200(t *testing.T) {
	for _, row := range []struct {
		name, kind, body string
		want             model.ErrorKind
	}{
		{"chat", "chat_", `{"error": {"message": "no capacity", "code": 503}}`, model.Overloaded},
		{"chat, beside choices", "chat_", `{"choices": [{"message": {"content": "x"}}], "error": {"message": "cut", "code": "429"}}`, model.RateLimited},
		{"chat, by its reason", "chat_", `{"choices": [{"message": {"content": "x"}, "finish_reason": "error"}]}`, model.ServerError},
		{"gemini", "gemini_", `{"error": {"message": "later", "status": "RESOURCE_EXHAUSTED"}}`, model.RateLimited},
	} {
		t.Run(row.name, func(t *testing.T) {
			base, _ := serving(t, 200, "application/json", []byte(row.body))
			_, err := at(t, base, configOf(t, row.kind), model.Settings{Model: "m"}).Generate(t.Context(), question, nil)
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != row.want {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestResponseFilters(t *testing.T) {
	for _, row := range []struct {
		name, answer, want, fails string
		path                      []any
	}{
		{"a text", `{"a": {"b": "x"}}`, "x", "", []any{"a", "b"}},
		{"a list of texts", `{"a": ["x", "y"]}`, "xy", "", []any{"a"}},
		{"a block", `{"a": {"type": "text", "text": "x"}}`, "x", "", []any{"a"}},
		{"an object", `{"a": {"steps": ["x"], "n": 1.50}}`, `{"n":1.50,"steps":["x"]}`, "", []any{"a"}},
		{"a number", `{"a": 12}`, "12", "", []any{"a"}},
		{"blocks around calls", `{"a": [{"toolUse": {"name": "f"}}, {"text": "x"}, {"text": "no", "thought": true}]}`, "x", "", []any{"a"}},
		{"nothing", `{"b": "x"}`, "", "selects nothing", []any{"a"}},
		{"not JSON", `x`, "", "not valid JSON", []any{"a"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			base, _ := serving(t, 200, "application/json", []byte(row.answer))
			c := defaults()
			c.RequestBody, c.ResponseFilter = value(t, `{"p": "${args.prompt}"}`), member(row.path...)
			got, err := at(t, base, c, model.Settings{}).Generate(t.Context(), question, nil)
			if row.fails != "" {
				var e *model.Error
				if !errors.As(err, &e) || e.Kind != model.BadReply || !strings.Contains(e.Message, row.fails) {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil || got.Text != row.want {
				t.Errorf("reply %+v, error %v", got, err)
			}
		})
	}
}

// An interface with a response filter takes the text from there, and the rest as usual.
func TestResponseFilterWithInterface(t *testing.T) {
	answer := `{"choices": [{"message": {"content": "x", "summary": "y"}, "finish_reason": "length"}], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}`
	c := of("openai/v1/chat/completions")
	c.ResponseFilter = member("choices", 0, "message", "summary")
	base, _ := serving(t, 200, "application/json", []byte(answer))
	got, err := at(t, base, c, model.Settings{Model: "m"}).Generate(t.Context(), question, nil)
	if err != nil || got.Text != "y" || got.Stop != model.MaxTokens || got.Usage != (model.Tokens{Input: 5, Output: 2}) {
		t.Errorf("reply %+v, error %v", got, err)
	}
	base, _ = serving(t, 200, "application/json", []byte(`{"choices": [{"message": {"tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]}}]}`))
	if got, err = at(t, base, c, model.Settings{Model: "m"}).Generate(t.Context(), question, nil); err != nil || len(got.Calls) != 1 {
		t.Errorf("reply %+v, error %v: calls have no text to find", got, err)
	}
}

func FuzzAnswer(f *testing.F) {
	for _, file := range []string{"chat_tools.json", "chat_parts.json", "converse_thinking_tools.json", "deepseek_tools.json", "deepseek_broken.json", "gemini_tools.json", "gemini_blocked.json", "text_tgi.json"} {
		f.Add(string(modelhttptest.ReadRecorded(f, "recorded/"+file)))
	}
	f.Add(strings.Repeat("[", 20000))
	var models []model.Model
	for _, kind := range interfaces {
		models = append(models, at(f, "http://127.0.0.1:1", configOf(f, kind), model.Settings{Model: "m"}))
	}
	f.Fuzz(func(t *testing.T, in string) {
		for _, m := range models {
			got, err := http.Read(m, question, []byte(in))
			var e *model.Error
			if (got == nil) == (err == nil) || err != nil && !errors.As(err, &e) {
				t.Errorf("reply %+v, error %v", got, err)
			}
			if got == nil {
				continue
			}
			for _, c := range got.Calls {
				if c.Name == "" || c.ID == "" || len(c.Args) == 0 {
					t.Errorf("call %+v", c)
				}
			}
		}
	})
}

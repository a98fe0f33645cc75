package dsl_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine/memory"
)

func TestMessages(t *testing.T) {
	cases := []struct {
		name, file string
		earlier    []memory.Interaction
		question   string
	}{
		{name: "none", file: `[]`},
		{name: "a question", file: `[{"role": "user", "content": "why?"}]`, question: "why?"},
		{
			name:    "a question and its answer",
			file:    `[{"role": "user", "content": "why?"}, {"role": "assistant", "content": "because"}]`,
			earlier: []memory.Interaction{{Question: "why?", Answer: "because"}},
		},
		{
			name:     "a question after an answer",
			file:     `[{"role": "user", "content": "why?"}, {"role": "assistant", "content": "because"}, {"role": "user", "content": "and now?"}]`,
			earlier:  []memory.Interaction{{Question: "why?", Answer: "because"}},
			question: "and now?",
		},
		{
			name:     "several of one role are one",
			file:     `[{"role": "user", "content": "a"}, {"role": "user", "content": "b"}, {"role": "assistant", "content": "c"}, {"role": "assistant", "content": "d"}, {"role": "user", "content": "e"}]`,
			earlier:  []memory.Interaction{{Question: "a\n\nb", Answer: "c\n\nd"}},
			question: "e",
		},
		{
			name:    "who greets first",
			file:    `[{"role": "assistant", "content": "hello"}]`,
			earlier: []memory.Interaction{{Answer: "hello"}},
		},
		{name: "in parts", file: `[{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]`, question: "a\n\nb"},
		{name: "within an object", file: `{"model": "m", "messages": [{"role": "user", "content": "${parameters.x}"}]}`, question: "${parameters.x}"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			earlier, question, err := dsl.Messages([]byte(c.file))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.earlier, earlier); diff != "" || question != c.question {
				t.Errorf("question %q, want %q; earlier (-want +got):\n%s", question, c.question, diff)
			}
		})
	}
}

func TestInvalidMessagesAreRejected(t *testing.T) {
	cases := []struct{ name, file, want string }{
		{"no JSON", `[{`, "the messages are not valid JSON"},
		{"no list", `"hi"`, "the messages must be a list"},
		{"empty", ``, "the messages are not valid JSON"},
		{"a role of others", `[{"role": "user", "content": "a"}, {"role": "system", "content": "b"}]`, `message 2: invalid role "system"`},
		{"no role", `[{"content": "a"}]`, `message 1: invalid role ""`},
		{"no content", `[{"role": "user"}]`, "message 1: missing content"},
		{"a picture", `[{"role": "user", "content": [{"type": "image_url"}]}]`, `message 1: unsupported content type "image_url"`},
		{"a part without text", `[{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text"}]}]`, "message 1: a content part has no text"},
		{"a part that is a number", `[{"role": "user", "content": [{"type": "text", "text": 5}]}]`, "message 1: a content part has no text"},
		{"no message", `["a"]`, "message 1: missing content"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := dsl.Messages([]byte(c.file))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

package prompt_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl/prompt"
)

func TestFence(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"nothing", "", "```"},
		{"plain text", "a `b` ``c``", "```"},
		{"a fenced block", "```json\n{}\n```", "````"},
		{"a longer fence", "a\n``````\nb ```", "```````"},
		{"at the end", "x`````", "``````"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := prompt.Fence(c.text)
			if got != c.want || strings.Contains(c.text, got) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

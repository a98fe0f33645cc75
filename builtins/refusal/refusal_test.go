package refusal_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/builtins/refusal"
)

// Tests in builtins/node/reply check that refusals of planners are distinguished from
// plans.
func TestIs(t *testing.T) {
	for _, c := range []struct {
		text string
		want bool
	}{
		{"I can’t assist with this request.", true},
		{"> **I must decline** to answer.", true},
		{"No puedo ayudar con eso.", true},
		{"I'm sorry.", true},
		{"I cannot answer that before I have looked. Let me look.", false},
		{"Your order cannot be changed any more.", false},
		{"Paris.", false},
		{"", false},
		{"One. Two. Three. I must decline.", false},
		{strings.Repeat("long ", 200) + "I must decline.", false},
	} {
		if got := refusal.Is(c.text); got != c.want {
			t.Errorf("%.40q: %v", c.text, got)
		}
	}
}

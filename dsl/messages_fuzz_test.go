package dsl_test

import (
	"testing"

	"github.com/pexctl/pex/dsl"
)

// FuzzMessages checks that any file is either read or rejected, and that every
// turn read has a text.
func FuzzMessages(f *testing.F) {
	f.Add([]byte(`[{"role": "user", "content": "a"}, {"role": "assistant", "content": [{"type": "text", "text": "b"}]}]`))
	f.Add([]byte(`{"messages": null}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		earlier, _, err := dsl.Messages(file)
		if err != nil && earlier != nil {
			t.Errorf("refused, and still read: %v", earlier)
		}
		for _, in := range earlier {
			if in.Answer == "" {
				t.Errorf("a turn without an answer: %+v", in)
			}
		}
	})
}

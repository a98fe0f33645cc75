package dsl_test

import (
	"testing"

	"github.com/pexctl/pex/dsl"
)

// Whatever stands in the file, it is read or refused, and no turn is lost: one
// that is kept has something to say.
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

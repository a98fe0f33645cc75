package runtime_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
)

// A live run sees the canonical output of a tool and a resumed one the decoded output.
func FuzzCanonicalToolOutputIsWhatDecodingReturns(f *testing.F) {
	f.Add("42", `{"a": 1}`, "", 0, 1)
	f.Add("\xff<&>\u2028", "", "r/step.s1/tool.1", 2, 0)
	f.Add("", "\n[1,\t\"\\\" x\"]", "k", -1, 3)
	f.Add("x", `{"a":`, "", 0, 0)
	f.Fuzz(func(t *testing.T, text, data, key string, n, kind int) {
		var r runtime.SegmentResult
		r.Text, r.Data, r.Key = text, json.RawMessage(data), key
		r.AnswersUsed, r.WantTokens, r.Attempts, r.Lost, r.LostVectors = n, n/2, n%5, n%2, n%3
		switch kind % 4 {
		case 1:
			r.Sampled = []model.Tokens{{Input: n}}
		case 2:
			r.Vectors, r.Sampled = []model.Tokens{{Input: n}}, []model.Tokens{}
		case 3:
			r.Question = &interrupt.Question{Question: text}
		}
		live := r.Canonical()
		b, err := live.AppendJSON([]byte("x"))
		plain, perr := jsonvalue.Marshal(r)
		if (err == nil) != (perr == nil) {
			t.Fatalf("AppendJSON: %v, Marshal: %v", err, perr)
		}
		if err != nil {
			return
		}
		var decoded runtime.SegmentResult
		if err := json.Unmarshal(b[1:], &decoded); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		if d := cmp.Diff(live, decoded, cmp.AllowUnexported(runtime.SegmentResult{})); d != "" {
			t.Fatalf("live and decoded differ (-live +decoded):\n%s%s", d, b)
		}
		if utf8.ValidString(text) && utf8.ValidString(data) && utf8.ValidString(key) && string(plain) != string(b[1:]) {
			t.Fatalf("AppendJSON wrote %s, encoding/json %s", b[1:], plain)
		}
	})
}

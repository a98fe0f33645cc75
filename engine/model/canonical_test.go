package model_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/model"
)

// A live run sees the canonical reply and a resumed one the decoded reply.
func FuzzCanonicalReplyIsWhatDecodingReturns(f *testing.F) {
	f.Add("done", "c1", "add", `{"a":1, "b":"<x>"}`, `{"s":"y"}`, "tool_use", 3, 4, int64(5), true)
	f.Add("\xff\u2028", "", "", `{"a":`, "", "", 0, 0, int64(0), false)
	f.Add("", "\x00", "n\"", "\n[1 ,2]\n", "[\n]", "end", -1, 1, int64(-1), false)
	f.Add("x", "y", "z", "null", "{\"a\":\"\xff\"}", "max_tokens", 1, 0, int64(1), true)
	f.Fuzz(func(t *testing.T, text, id, name, args, opaque, stop string, in, cached int, latency int64, flag bool) {
		r := &model.Reply{
			Text: text, Stop: model.StopReason(stop), Usage: model.Tokens{Input: in, Output: in / 2, Cached: cached, Reasoning: in % 3, CacheWrite: cached % 2},
			Calls:     []model.ToolCall{{ID: id, Name: name, Args: json.RawMessage(args), Opaque: json.RawMessage(opaque)}, {Name: id}},
			Estimated: flag, Uncounted: !flag, Sent: cached, Model: name, ID: id, Attempts: in, Latency: time.Duration(latency), FirstToken: time.Duration(latency / 2),
			Bound: &model.OutputBound{Tokens: 1},
		}
		if !flag {
			r.Calls = r.Calls[:0]
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
		var decoded, same model.Reply
		if err := json.Unmarshal(b[1:], &decoded); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		if d := cmp.Diff(live, &decoded); d != "" {
			t.Fatalf("live and decoded differ (-live +decoded):\n%s%s", d, b)
		}
		if err := json.Unmarshal(plain, &same); err != nil {
			t.Fatal(err)
		}
		again, err := same.Canonical().AppendJSON(nil)
		if err != nil || string(again) != string(b[1:]) && !hasEscapes(plain) && allValid(text, id, name, stop, args, opaque) {
			t.Fatalf("AppendJSON wrote %s, encoding/json %s (%v)", b[1:], plain, err)
		}
		if live.Canonical() != live {
			t.Fatal("a canonical reply was copied")
		}
	})
}

// hasEscapes reports whether encoding/json escaped HTML in the arguments of a call.
func hasEscapes(b []byte) bool {
	for _, s := range []string{`\u003c`, `\u003e`, `\u0026`, `\u2028`, `\u2029`} {
		if bytes.Contains(b, []byte(s)) {
			return true
		}
	}
	return false
}

func TestACanonicalReplyIsNotCopied(t *testing.T) {
	r := &model.Reply{Text: "done", Calls: []model.ToolCall{{Name: "add", Args: json.RawMessage(`{"a":1}`)}}, Stop: model.EndTurn}
	if r.Canonical() != r {
		t.Error("copied")
	}
	odd := &model.Reply{Calls: []model.ToolCall{{Name: "add", Args: json.RawMessage(`{ "a":1}`)}}}
	if got := odd.Canonical(); got == odd || string(odd.Calls[0].Args) != `{ "a":1}` || string(got.Calls[0].Args) != `{"a":1}` {
		t.Errorf("the reply of a provider was changed, or not: %s %s", odd.Calls[0].Args, got.Calls[0].Args)
	}
}

func allValid(texts ...string) bool {
	return !slices.ContainsFunc(texts, func(s string) bool { return !utf8.ValidString(s) })
}

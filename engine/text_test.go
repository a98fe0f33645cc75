package engine_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
)

func TestTextIsOneStringForReaders(t *testing.T) {
	cases := []struct {
		name string
		m    engine.Message
		want string
	}{
		{"segments", engine.Message{Role: engine.User, Text: engine.Text{"a ", "\"b\"", ""}}, `{"role":"user","text":"a \"b\""}`},
		{"no text", engine.Message{Role: engine.Assistant}, `{"role":"assistant"}`},
		{"empty text", engine.Message{Role: engine.Assistant, Text: engine.Text{""}}, `{"role":"assistant","text":""}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b, err := json.Marshal(c.m)
			if err != nil || string(b) != c.want {
				t.Fatalf("%s, %v", b, err)
			}
			var back engine.Message
			if err := json.Unmarshal(b, &back); err != nil || back.Text.String() != c.m.Text.String() {
				t.Errorf("%q, %v", back.Text, err)
			}
		})
	}
}

func TestTextIsReadFromStringOrSegments(t *testing.T) {
	for in, want := range map[string]engine.Text{`"a"`: {"a"}, `["a","b"]`: {"a", "b"}, `null`: nil} {
		var got engine.Text
		if err := json.Unmarshal([]byte(in), &got); err != nil || !cmp.Equal(want, got) {
			t.Errorf("%s: %q, %v", in, got, err)
		}
	}
	var got engine.Text
	if err := json.Unmarshal([]byte(`7`), &got); err == nil {
		t.Errorf("7 is read as %q", got)
	}
}

// What two requests share stands once in the journal, because their texts go
// there in segments.
func TestJournalKeepsTheSegmentsOfARequest(t *testing.T) {
	shared := strings.Repeat("shared ", 20)
	p := program(map[string]does{"a": func(s engine.Scope) error {
		for _, own := range []string{"one", "two"} {
			_, err := s.Model(own, engine.ModelCall{Role: "executor", LLM: "main", Messages: []engine.Message{
				{Role: engine.User, Text: engine.Text{shared, own}},
			}})
			if err != nil {
				return err
			}
		}
		return nil
	}})
	p.Models = []engine.ModelSpec{{Name: "main"}}
	j := &journal.Memory{Paranoid: true}
	in := engine.Input{RunID: "r", Parameters: map[string]any{}}
	res := engine.Run(t.Context(), p, in, engine.Host{Models: map[string]engine.Model{"main": answer{}}}, engine.Options{Journal: j, Virtual: true})
	if res.Status != engine.Completed {
		t.Fatal(res.StopReason)
	}
	var bodies []byte
	for _, r := range j.Records {
		bodies = append(bodies, r.Body...)
	}
	if n := bytes.Count(bodies, []byte(shared)); n != 1 {
		t.Errorf("the shared text stands %d times in the journal", n)
	}
}

package runtime_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
)

func TestTextIsOneStringForReaders(t *testing.T) {
	cases := []struct {
		name string
		m    model.Message
		want string
	}{
		{"segments", model.Message{Role: model.User, Text: model.Text{"a ", "\"b\"", ""}}, `{"role":"user","text":"a \"b\""}`},
		{"no text", model.Message{Role: model.Assistant}, `{"role":"assistant"}`},
		{"empty text", model.Message{Role: model.Assistant, Text: model.Text{""}}, `{"role":"assistant","text":""}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b, err := json.Marshal(c.m)
			if err != nil || string(b) != c.want {
				t.Fatalf("%s, %v", b, err)
			}
			var back model.Message
			if err := json.Unmarshal(b, &back); err != nil || back.Text.String() != c.m.Text.String() {
				t.Errorf("%q, %v", back.Text, err)
			}
		})
	}
}

func TestTextIsReadFromStringOrSegments(t *testing.T) {
	for in, want := range map[string]model.Text{`"a"`: {"a"}, `["a","b"]`: {"a", "b"}, `null`: nil} {
		var got model.Text
		if err := json.Unmarshal([]byte(in), &got); err != nil || !cmp.Equal(want, got) {
			t.Errorf("%s: %q, %v", in, got, err)
		}
	}
	var got model.Text
	if err := json.Unmarshal([]byte(`7`), &got); err == nil {
		t.Errorf("7 is read as %q", got)
	}
}

// The text that two requests share is journaled once, since texts are stored in segments.
func TestJournalKeepsTheSegmentsOfARequest(t *testing.T) {
	shared := strings.Repeat("shared ", 20)
	p := program(map[string]nodeFunc{"a": func(s engine.Scope) error {
		for _, own := range []string{"one", "two"} {
			_, err := s.Model(own, model.Call{Role: "executor", LLM: "main", Messages: []model.Message{
				{Role: model.User, Text: model.Text{shared, own}},
			}})
			if err != nil {
				return err
			}
		}
		return nil
	}})
	p.Models = []engine.ModelSpec{{Name: "main"}}
	j := &journal.Memory{RoundTrip: true}
	in := engine.Input{RunID: "r", Parameters: map[string]any{}}
	res := execute(t.Context(), p, in, engine.Host{Models: map[string]model.Model{"main": answer{}}}, runtime.Options{Journal: j, Virtual: true})
	if res.Status != stop.RunCompleted {
		t.Fatal(res.StopReason)
	}
	var bodies []byte
	for _, r := range j.Records {
		bodies = append(bodies, r.Body...)
	}
	if n := bytes.Count(bodies, []byte(shared)); n != 1 {
		t.Errorf("the journal contains the shared text %d times", n)
	}
}

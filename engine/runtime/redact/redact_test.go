package redact_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime/redact"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/tool"
)

type reply struct {
	pieces []string
	reply  *model.Reply
	err    error
}

func (r reply) Generate(_ context.Context, _ *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	for _, p := range r.pieces {
		if stream != nil {
			stream(model.Delta{Text: p})
		}
	}
	return r.reply, r.err
}

func mask() redact.Mask { return redact.New(secret.New(map[string]string{"KEY": "hunter2-hunter2"})) }

func TestRepliesAndStreamsAreRedacted(t *testing.T) {
	m := redact.Model{Mask: mask(), Model: reply{
		pieces: []string{"the key is hunter2", "-hunter2."},
		reply: &model.Reply{Text: "the key is hunter2-hunter2.", Calls: []model.ToolCall{
			{ID: "1", Name: "send", Args: json.RawMessage(`{"key":"hunter2-hunter2"}`), Opaque: json.RawMessage(`{"signed":"hunter2-hunter2"}`)},
		}},
	}}
	var streamed strings.Builder
	got, err := m.Generate(t.Context(), &model.Request{}, func(d model.Delta) { streamed.WriteString(d.Text) })
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"reply": string(b), "stream": streamed.String()} {
		if strings.Contains(text, "hunter2") {
			t.Errorf("the %s contains the secret: %s", what, text)
		}
	}
	if got.Calls[0].Opaque != nil {
		t.Error("opaque data with a secret was not dropped")
	}
}

func TestErrorsHaveAKindAndAreRedacted(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want model.ErrorKind
	}{
		{errors.New("dial with hunter2-hunter2"), model.NetworkError},
		{context.DeadlineExceeded, model.CallTimeout},
		{&model.Error{Kind: model.AuthError, Message: "wrong key hunter2-hunter2"}, model.AuthError},
	} {
		_, err := redact.Model{Mask: mask(), Model: reply{err: tt.err}}.Generate(t.Context(), &model.Request{}, nil)
		me := model.AsError(err)
		if me == nil || me.Kind != tt.want {
			t.Errorf("%v became %v, want the kind %s", tt.err, err, tt.want)
			continue
		}
		if strings.Contains(err.Error(), "hunter2") || me.Err != nil {
			t.Errorf("the error contains the secret or its cause: %v", err)
		}
	}
}

func TestZeroMaskChangesNothing(t *testing.T) {
	var none redact.Mask
	out := &tool.Output{Text: "hunter2-hunter2", Data: json.RawMessage(`{"a":"hunter2-hunter2"}`)}
	if d := cmp.Diff(out, none.Output(out)); d != "" {
		t.Error(d)
	}
	r := &model.Reply{Text: "hunter2-hunter2"}
	if got := none.Reply(r); got != r {
		t.Errorf("the reply was copied: %+v", got)
	}
	if got := none.Text("hunter2-hunter2"); got != "hunter2-hunter2" {
		t.Errorf("text became %q", got)
	}
}

package turn_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/turn"
)

func TestParseAnswers(t *testing.T) {
	const invalid = "invalid"
	for _, c := range []struct {
		kind   interrupt.Kind
		answer string
		want   manager.Answer
		do     string
	}{
		{interrupt.Approval, `{"approved": true}`, manager.Answer{Do: "approve"}, "approve"},
		{interrupt.Approval, `{"approved": false, "reason": "no"}`, manager.Answer{Do: "deny", Value: "no"}, "deny"},
		{interrupt.Approval, `{"approved": true, "editedArgs": {"a": 1}}`, manager.Answer{Do: "edit", Value: `{"a": 1}`}, "edit"},
		{interrupt.Approval, `{"approved": false, "editedArgs": {"a": 1}}`, manager.Answer{Do: "deny"}, "deny"},
		{interrupt.Approval, `"deny: no"`, manager.Answer{Value: "deny: no"}, "deny"},
		{interrupt.Approval, `"maybe"`, manager.Answer{}, invalid},
		{interrupt.Approval, `{"text": "yes"}`, manager.Answer{}, invalid},
		{interrupt.Approval, `{"approved": "yes"}`, manager.Answer{}, invalid},
		{interrupt.Approval, `true`, manager.Answer{}, invalid},
		{interrupt.Approval, `null`, manager.Answer{}, invalid},
		{interrupt.Approval, ``, manager.Answer{}, invalid},
		{interrupt.Guard, `{"editedArgs": {}}`, manager.Answer{}, invalid},
		{interrupt.User, `{"text": "blue"}`, manager.Answer{Do: "text", Value: "blue"}, "text"},
		{interrupt.User, `"blue"`, manager.Answer{Value: "blue"}, "text"},
		{interrupt.Review, `{"do": "done", "result": {"id": 1}}`, manager.Answer{Do: "done", Value: `{"id": 1}`}, "done"},
		{interrupt.Review, `"done:{}"`, manager.Answer{Value: "done:{}"}, "done"},
		{interrupt.Review, `{"approved": true}`, manager.Answer{}, invalid},
	} {
		q := interrupt.Question{Path: "p", Kind: c.kind}
		got, err := turn.ParseAnswer(q, []byte(c.answer))
		c.want.Path = "p"
		switch {
		case c.do == invalid && err == nil:
			t.Errorf("%s %s is accepted: %+v", c.kind, c.answer, got)
		case c.do != invalid && (err != nil || got != c.want || turn.Decides(q, got) != c.do):
			t.Errorf("%s %s: %+v %v", c.kind, c.answer, got, err)
		}
	}
}

func TestDismissDenies(t *testing.T) {
	for kind, want := range map[interrupt.Kind]string{interrupt.Approval: "deny", interrupt.User: "deny", interrupt.Review: "skip"} {
		q := interrupt.Question{Path: "p", Kind: kind}
		if got := turn.Decides(q, turn.Dismiss(q)); got != want {
			t.Errorf("%s: %s", kind, got)
		}
	}
	if s := string(turn.AnswerSchema(interrupt.Guard)); strings.Contains(s, "editedArgs") {
		t.Error(s)
	}
}

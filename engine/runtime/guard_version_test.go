package runtime_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// TestQuestionOfVersion010IsStillAnswered resumes a journal in which the guard's question
// lacks the call, as version 0.1.0 wrote it. An answer is used, and a denial ends the run
// as it did then.
func TestQuestionOfVersion010IsStillAnswered(t *testing.T) {
	for _, c := range []struct {
		name, typed string
		old         bool
		status      stop.RunStatus
		call        tool.CallStatus
	}{
		{"approved", "approve", false, stop.RunCompleted, tool.CallOK},
		{"denied", "deny", false, stop.RunCompleted, tool.CallDenied},
		{"approved, of an earlier version", "approve", true, stop.RunCompleted, tool.CallOK},
		{"denied, of an earlier version", "deny", true, stop.RunStopped, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var recs []tool.Record
			p := program(map[string]nodeFunc{"a": callTool("x", 1, false, &recs)})
			p.Guards = []engine.Guard{{Name: "look", At: engine.BeforeTool, Do: engine.GuardInterrupt, Message: "sure?", When: when(func(exprenv.Tool) bool { return true })}}
			h := engine.Host{Tools: []tool.Binding{named("x", funcTool{tool.ReadEffect, func(context.Context, *tool.Call) (*tool.Output, error) {
				return &tool.Output{Text: "fine"}, nil
			}})}}
			j := &journal.Memory{}
			res := session(t, p, h, j, runtime.Options{Virtual: true})
			if len(res.Interrupts) != 1 || res.Interrupts[0].Tool != "x" {
				t.Fatalf("%+v", res.Interrupts)
			}
			if c.old {
				j = withoutTheCall(t, j)
			}
			path := res.Interrupts[0].Path
			for range 2 { // and again, from the journal alone
				res = session(t, p, h, j, runtime.Options{Virtual: true, Answers: map[string]json.RawMessage{path: encodeAnswer(t, c.typed)}})
				if res.Status != c.status || recs[0].Status != c.call {
					t.Errorf("%s %+v: %s", res.Status, res.StopReason, recs[0].Status)
				}
			}
		})
	}
}

// withoutTheCall returns a copy of a journal in which the question of the guard lacks the
// call.
func withoutTheCall(t *testing.T, j *journal.Memory) *journal.Memory {
	t.Helper()
	out := &journal.Memory{Records: append([]journal.Record(nil), j.Records...)}
	for i := range out.Records {
		rec := &out.Records[i]
		if rec.Kind != journal.Intent || rec.Class != journal.Question {
			continue
		}
		var q interrupt.Question
		if err := json.Unmarshal(rec.Body, &q); err != nil {
			t.Fatal(err)
		}
		type plain interrupt.Question
		body, err := json.Marshal(plain{Path: q.Path, Kind: q.Kind, Question: q.Question})
		if err != nil {
			t.Fatal(err)
		}
		rec.Body, rec.Digest = body, journal.DigestOf(body)
	}
	return out
}

package runtime_test

import (
	"encoding/json"
	"testing"

	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/runtime/replay"
	"github.com/pexctl/pex/engine/secret"
)

const sendCall = `{"tool":"send","args":{"to":"x"}}`

// failedWriteRecords returns the records of a run whose write failed with a code.
func failedWriteRecords(code string) []journal.Record {
	failure := (&journal.Failure{Code: code, Message: "m"}).Encode()
	return []journal.Record{
		{Seq: 1, Kind: journal.Start},
		{Seq: 2, Kind: journal.Intent, Class: journal.Write, Path: "w", Digest: journal.DigestOf([]byte(sendCall)), Body: []byte(sendCall)},
		{Seq: 3, Kind: journal.Cancel},
		{Seq: 4, Kind: journal.Result, Path: "w", Status: journal.Failed, Body: failure},
	}
}

// Writes that a cancelled run did not wait for are open in a fork of it.
func TestForkOfACancelledRunReviewsItsWrites(t *testing.T) {
	for _, tt := range []struct {
		name           string
		code           string
		until          uint64
		doubt, adopted bool
	}{
		{"a failure is a result", "error", 5, false, true},
		{"a doubt stays one", kernel.FailureUnknown, 5, true, false},
		{"what was not begun may be", kernel.FailureNotBegun, 5, false, false},
		{"a replay answers as it was", kernel.FailureUnknown, 0, false, true},
		{"also what was not begun", kernel.FailureNotBegun, 0, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := replay.New(failedWriteRecords(tt.code), replay.Options{Until: tt.until})
			found, err := r.Find(kernel.EffectQuery{
				Path: "w", Class: journal.Write, Layer: replay.LayerTool, Digest: journal.DigestOf([]byte(sendCall)), Request: []byte(sendCall),
			})
			if err != nil || found.UnknownOutcome != tt.doubt || (found.Result != nil) != tt.adopted {
				t.Errorf("%+v, %v", found, err)
			}
		})
	}
}

// A cassette without digests answers only the recorded question, not another one at the
// same path.
func TestRecordedDecisionRequiresTheSameQuestion(t *testing.T) {
	ask := func(q interrupt.Question) []byte {
		q.Path = "a/ask"
		b, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	asked := interrupt.Question{Kind: interrupt.Human, Question: "Which colour?"}
	recs := []journal.Record{
		{Seq: 1, Kind: journal.Start},
		{Seq: 2, Kind: journal.Intent, Class: journal.Question, Path: "a/ask", Body: ask(asked)},
		{Seq: 3, Kind: journal.Result, Path: "a/ask", Body: []byte(`{"do":"approve"}`)},
	}
	for _, tt := range []struct {
		name string
		q    interrupt.Question
		same bool
	}{
		{"the same", asked, true},
		{"another text", interrupt.Question{Kind: interrupt.Human, Question: "Delete everything?"}, false},
		{"another kind", interrupt.Question{Kind: interrupt.Guard, Question: asked.Question}, false},
		{"other arguments", interrupt.Question{Kind: interrupt.Human, Question: asked.Question, Args: json.RawMessage(`{"a":1}`)}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := replay.New(recs, replay.Options{Secrets: secret.New(nil)})
			body := ask(tt.q)
			found, err := r.Find(kernel.EffectQuery{
				Path: "a/ask", Class: journal.Question, Layer: kernel.LayerPerson, Digest: journal.DigestOf(body), Request: body,
			})
			if err != nil || (found.Result != nil) != tt.same {
				t.Errorf("%+v, %v", found, err)
			}
		})
	}
}

// A fork in the middle of a call, which continues after a question of the tool, asks again whether
// it may be made.
func TestAForkInTheMiddleOfACallAsksAgain(t *testing.T) {
	intent := func(seq uint64, path string, class journal.Class) journal.Record {
		return journal.Record{Seq: seq, Kind: journal.Intent, Class: class, Path: path, Body: []byte(sendCall)}
	}
	result := func(seq uint64, path, body string) journal.Record {
		return journal.Record{Seq: seq, Kind: journal.Result, Path: path, Body: []byte(body)}
	}
	recs := []journal.Record{
		{Seq: 1, Kind: journal.Start},
		intent(2, "t.approval", journal.Question), result(3, "t.approval", `{"do":"approve"}`),
		intent(4, "t", journal.Idempotent), result(5, "t", `{"asked":{"question":"which?"}}`),
		intent(6, "t.ask", journal.Question), result(7, "t.ask", `{"do":"text"}`),
		intent(8, "t.again.1", journal.Idempotent), result(9, "t.again.1", `{"text":"sent"}`),
	}
	for until, asks := range map[uint64]bool{4: true, 6: true, 8: true, 9: true, 10: false} {
		r := replay.New(recs, replay.Options{Until: until})
		for _, path := range []string{"t.approval", "t.ask"} {
			if got := r.AsksAgain(path); got != asks {
				t.Errorf("fork at record %d: asks %s again: %v", until, path, got)
			}
		}
	}
}

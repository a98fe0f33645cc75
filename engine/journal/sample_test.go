package journal_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pexctl/pex/engine/journal"
)

// sample is a journal with every kind of record and of body.
func sample(t testing.TB) ([]byte, []journal.Record) {
	t.Helper()
	recs := []journal.Record{
		{Kind: journal.Start, Path: "r1", WallTime: 1_763_637_843_000_000_123, Body: []byte(`{"question":"why?"}`)},
		{Kind: journal.Intent, Class: journal.Read, Attempt: 1, Path: "plan.1/model", Digest: journal.Digest{1, 2, 255}, Body: []byte(`{"m":[1,2],"chain":"0123456789abcdef"}`)},
		{Kind: journal.Result, At: 1 << 60, Path: "plan.1/model", Body: []byte(`{"Text":"a \"quoted\" <b> & line\n","n":[1,{"x":"}],\\"}]}`)},
		{Kind: journal.Intent, Class: journal.Write, Attempt: 1, Path: "step.\"s\"/tool.é\n"},
		{Kind: journal.Result, Status: journal.Failed, Path: "step.\"s\"/tool.é\n", Body: []byte(`{"code":"error","message":"no such file"}`)},
		{Kind: journal.Intent, Class: journal.Question, Attempt: 1, Path: "ask"},
		{Kind: journal.Result, Path: "ask", Body: []byte("not JSON: \"x\"\n\tat line 3 \u2028")},
		{Kind: journal.Result, Status: journal.Skipped, Path: "t"},
		{Kind: journal.Result, Deferred: true, Path: "h", Body: []byte(`null`)},
		{Kind: journal.Redo, Attempt: 3, Path: "u"},
		{Kind: journal.Redo, Attempt: 2, Path: "w", WallTime: 1_763_637_843_000_000_000, By: []byte(`{"user":"ann","host":"é"}`)},
		{Kind: journal.UnknownOutcome, Path: "w", Deferred: true, Body: []byte(`{"code":"timeout","message":"no answer"}`)},
		{Kind: journal.Answer, Path: "w", WallTime: 1, By: []byte(`{}`), Body: []byte(`{"question":{},"decision":{"do":"approve"}}`)},
		{Kind: journal.Change, Voids: 4, Body: []byte(`{"limits":{}}`)},
		{Kind: journal.Cancel},
		{Kind: journal.Marker},
		{Kind: journal.End, Path: "done"},
	}
	var c journal.Chain
	return encodeLines(t, recs, &c), recs
}

// encodeLines numbers records from 1 and encodes them after chain c.
func encodeLines(t testing.TB, recs []journal.Record, c *journal.Chain) []byte {
	t.Helper()
	var b []byte
	for i := range recs {
		recs[i].Seq = uint64(i + 1)
		var err error
		if b, *c, err = journal.AppendLine(b, &recs[i], *c); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func same(t *testing.T, got, want []journal.Record) {
	t.Helper()
	if len(got) == 0 && len(want) == 0 || reflect.DeepEqual(got, want) {
		return // cmp is slow, and some tests compare thousands of times
	}
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("records differ (-want +got):\n%s", d)
	}
}

package journal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/journal"
)

func TestFailuresKeepTheirType(t *testing.T) {
	for name, row := range map[string]struct {
		err  error
		want journal.Failure
	}{
		"plain error":   {errors.New("no <such> file"), journal.Failure{Code: "error", Message: "no <such> file"}},
		"failure":       {&journal.Failure{Code: "model", Message: "m", Data: json.RawMessage(`{ "status": 429 }`)}, journal.Failure{Code: "model", Message: "m", Data: json.RawMessage(`{"status":429}`)}},
		"wrapped":       {fmt.Errorf("call: %w", &journal.Failure{Code: "timeout", Message: "late"}), journal.Failure{Code: "timeout", Message: "late"}},
		"invalid UTF-8": {errors.New("a\xffb"), journal.Failure{Code: "error", Message: "a\uFFFDb"}},
		"data no JSON":  {&journal.Failure{Code: "c", Message: "m", Data: json.RawMessage(`{oops`)}, journal.Failure{Code: "c", Message: "m", Data: json.RawMessage(`"{oops"`)}},
		"no text":       {errors.New(""), journal.Failure{Code: "error"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := journal.DecodeFailure(journal.AsFailure(row.err).Encode())
			if d := cmp.Diff(&row.want, got); d != "" || got.Error() != row.want.Message {
				t.Fatal(d)
			}
		})
	}
}

func TestABodyThatIsNoFailureIsItsMessage(t *testing.T) {
	for _, body := range []string{"plain words", `{"a":1}`, `[]`, ``} {
		if f := journal.DecodeFailure([]byte(body)); f.Code != "error" || f.Message != body {
			t.Errorf("%q: %+v", body, f)
		}
	}
}

package tracecontext_test

import (
	"encoding/hex"
	"testing"

	"github.com/pexctl/pex/engine/tracecontext"
)

// The ids of spans are in collectors and journals of callers, so they never change.
func TestIDsOfRuns(t *testing.T) {
	for got, want := range map[[16]byte]string{
		tracecontext.TraceOf("r", ""):        "6e19c3b4fd5d483781d7552cb55f7b31",
		tracecontext.TraceOf("r", "invalid"): "6e19c3b4fd5d483781d7552cb55f7b31",
		tracecontext.TraceOf("r", valid):     valid[3:35],
	} {
		if id := hex.EncodeToString(got[:]); id != want {
			t.Errorf("%s, want %s", id, want)
		}
	}
	of := tracecontext.SpanOf
	if id := of("r", tracecontext.RunKind, "", 0); hex.EncodeToString(id[:]) != "54d765bb77a15552" {
		t.Errorf("%x", id)
	}
	ids := map[[8]byte]bool{}
	for _, id := range [][8]byte{of("r", "run", "", 0), of("r", "run", "", 1), of("s", "run", "", 0), of("r", "step", "", 0), of("r", "step", "a", 0), of("r", "stepa", "", 0)} {
		if ids[id] {
			t.Errorf("two spans have the id %x", id)
		}
		ids[id] = true
	}
}

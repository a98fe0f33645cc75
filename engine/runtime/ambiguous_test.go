package runtime_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/tool"
)

// TestAmbiguousArgumentsAreRejected checks that arguments which other parsers could read
// differently than the approval never reach the tool, and that the model gets the reason.
func TestAmbiguousArgumentsAreRejected(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{`{"n":1,"n":2}`, "duplicate argument n"},
		{`{"n":1,"\u006e":2}`, "duplicate argument n"},
		{`{"a":{"b":1,"c":2,"b":3}}`, "duplicate argument a.b"},
		{`{"a":[1,{"b":1,"b":1}]}`, "duplicate argument a[1].b"},
		{`{"n":1e400}`, "the argument n has the number 1e400, which is out of range"},
		{`{"n":-1e400}`, "out of range"},
		{`{"n":1e-400}`, "out of range"},
		{`{"n":[0,1E999999999]}`, "the argument n[1] has the number 1E999999999"},
		{`{"n":0.` + strings.Repeat("3", 200) + `}`, "too long"},
		{`{"n":0e400,"m":0.0,"o":9007199254740993.0,"p":-50.0000000000000000001}`, ""},
		{`{"a":{"b":1},"c":{"b":1},"d":[{"b":1},{"b":1}]}`, ""},
	} {
		t.Run(tt.args, func(t *testing.T) {
			var rec tool.Record
			g := &recordingTool{}
			p, h := singleCallProgram(g, tt.args, &rec)
			h.Tools[0].Fit, h.Responder = nil, &answers{typed: []string{"approve"}}
			runs(p, h)
			said, _ := rec.Result.(string)
			switch {
			case tt.want == "" && (len(g.calls) != 1 || g.calls[0] != tt.args):
				t.Errorf("called with %q: %s", g.calls, said)
			case tt.want != "" && (len(g.calls) > 0 || rec.Status != tool.CallError || !strings.Contains(rec.Text(), tt.want)):
				t.Errorf("called with %q, status %s: %s", g.calls, rec.Status, rec.Text())
			}
		})
	}
}

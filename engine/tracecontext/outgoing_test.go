package tracecontext_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/tracecontext"
)

func TestParseState(t *testing.T) {
	many := strings.Repeat("a=b,", 33)
	for in, want := range map[string]string{
		"":                              "",
		"congo=t61rcWkgMzE":             "congo=t61rcWkgMzE",
		"a=1, b@c=2 ,,\td-e/f*_=3  ":    "a=1,b@c=2,d-e/f*_=3",
		"a=x y":                         "a=x y",
		"0a@b=1":                        "0a@b=1",
		"a":                             "",
		"=a":                            "",
		"a=":                            "",
		"A=1":                           "",
		"0a=1":                          "",
		"a=1=2":                         "",
		"a=1,a=2":                       "",
		"a=1\r\nx-injected: 1":          "",
		"a=\u00e9":                      "",
		many:                            "",
		"a=" + strings.Repeat("b", 600): "",
		"a=" + strings.Repeat("b", 256): "a=" + strings.Repeat("b", 256),
		"a=" + strings.Repeat("b", 257): "",
	} {
		if got := tracecontext.ParseState(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzParseState(f *testing.F) {
	f.Add("a=1, b@c=2")
	f.Fuzz(func(t *testing.T, s string) {
		state := tracecontext.ParseState(s)
		if again := tracecontext.ParseState(state); again != state {
			t.Errorf("%q: %q, then %q", s, state, again)
		}
		if strings.ContainsFunc(state, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%q: %q", s, state)
		}
	})
}

// A call carries the span of its effect, or what the caller of the run sent.
func TestInject(t *testing.T) {
	caller := tracecontext.ParseCaller(valid, "a=b")
	for _, tt := range []struct {
		name string
		run  *tracecontext.Run
		want string
	}{
		{"nothing exported", tracecontext.PassOn(tracecontext.Caller{}), ""},
		{"nothing exported, with a caller", tracecontext.PassOn(caller), valid + " a=b"},
		{"exported", tracecontext.NewRun("r", tracecontext.Caller{}, true), "00-6e19c3b4fd5d483781d7552cb55f7b31-01f532a56115110a-01 "},
		{"not sampled", tracecontext.NewRun("r", tracecontext.Caller{}, false), "00-6e19c3b4fd5d483781d7552cb55f7b31-01f532a56115110a-00 "},
		{"exported, with a caller", tracecontext.NewRun("r", caller, true), "00-0af7651916cd43dd8448eb211c80319c-01f532a56115110a-01 a=b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := http.Header{}
			tracecontext.Inject(tt.run.Call(t.Context(), tracecontext.ToolKind, "step.1/tool.1"), h)
			got := ""
			if len(h) > 0 {
				got = h.Get("traceparent") + " " + h.Get("tracestate")
			}
			if got != tt.want {
				t.Errorf("sent %q, want %q", got, tt.want)
			}
			if tt.want != "" && tracecontext.FromHeader(h).Parent != h.Get("traceparent") {
				t.Error("not well-formed")
			}
		})
	}
	own := http.Header{"Traceparent": {"chosen by the author"}}
	ctx := tracecontext.NewRun("r", caller, true).Call(t.Context(), tracecontext.ToolKind, "p")
	if tracecontext.Inject(ctx, own); own.Get("traceparent") != "chosen by the author" || own.Get("tracestate") != "" {
		t.Errorf("%v", own)
	}
}

// A call below another one has a span of its own.
func TestBelow(t *testing.T) {
	ctx := tracecontext.NewRun("r", tracecontext.Caller{}, true).Call(t.Context(), tracecontext.ToolKind, "p")
	tool, mcp := tracecontext.Outgoing(ctx), tracecontext.Outgoing(tracecontext.Below(ctx, tracecontext.MCPKind))
	if tool.Parent[:36] != mcp.Parent[:36] || tool.Parent == mcp.Parent {
		t.Errorf("%v and %v", tool, mcp)
	}
	if got := tracecontext.Outgoing(tracecontext.Below(t.Context(), tracecontext.MCPKind)); got != (tracecontext.Caller{}) {
		t.Errorf("%v without a trace", got)
	}
}

// Calls of runs without a trace cost nothing.
func TestOffAllocatesNothing(t *testing.T) {
	ctx, h, off := t.Context(), http.Header{}, tracecontext.PassOn(tracecontext.Caller{})
	if n := testing.AllocsPerRun(100, func() {
		tracecontext.Inject(tracecontext.Below(off.Call(ctx, tracecontext.ToolKind, "p"), tracecontext.MCPKind), h)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

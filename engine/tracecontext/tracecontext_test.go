package tracecontext_test

import (
	"testing"

	"github.com/pexctl/pex/engine/tracecontext"
)

const valid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		valid:             valid,
		valid[:53] + "00": valid[:53] + "00",
		valid[:53] + "03": valid, // unknown bits are dropped
		"cc" + valid[2:] + "-what-the-future-holds": valid,
		"":               "",
		valid + "-more":  "",
		"ff" + valid[2:]: "",
		"0" + valid:      "",
		valid[:54]:       "",
		"00-0AF7651916CD43DD8448EB211C80319C-B7AD6B7169203331-01":    "",
		"00-00000000000000000000000000000000-b7ad6b7169203331-01":    "",
		"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01":    "",
		"00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01":    "",
		"00-0af7651916cd43dd8448eb211c80319\x00-b7ad6b7169203331-01": "",
	} {
		p, ok := tracecontext.Parse(in)
		if got := p.String(); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q %v, want %q", in, got, ok, want)
		}
		c := tracecontext.ParseCaller(in, "a=b")
		if got := tracecontext.From(tracecontext.With(t.Context(), c)); got.Parent != want || (got.State != "") != ok {
			t.Errorf("context of %q: %q, want %q", in, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(valid)
	f.Fuzz(func(t *testing.T, s string) {
		p, ok := tracecontext.Parse(s)
		if !ok {
			return
		}
		if again, ok := tracecontext.Parse(p.String()); !ok || again != p {
			t.Errorf("%q: %v, then %v", s, p, again)
		}
	})
}
